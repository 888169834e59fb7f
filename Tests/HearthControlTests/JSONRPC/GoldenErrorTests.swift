import HearthControl
import HearthCore
import TestSupport
import Testing

/// Each error that the daemon can answer, as text, against what was recorded: those too that no call brings about.
@Suite("Errors are as they were recorded") struct GoldenErrorTests {
  private static let work = AccountName("work")!

  private static let challenge: Challenge = {
    guard let origin = try? Origin(ofServer: "https://api.example.com") else { preconditionFailure("it is an origin") }
    return Challenge(
      origin: origin, error: "insufficient_user_authentication", acrValues: "phr phrh", maxAge: 300, claims: "e30")
  }()

  private static let errors: [(name: String, error: RPCError)] = [
    ("parseError", .parseError("a message")),
    ("invalidRequest", .invalidRequest("a message")),
    ("methodNotFound", .methodNotFound("a.method")),
    ("invalidParams", .invalidParams("a message")),
    ("internalError", .internalError("a message")),
    ("shuttingDown", .shuttingDown),
    ("overloaded", .overloaded("a message")),
    ("unauthenticated", RPCError(.unauthenticated, account: work, message: "a message", action: .signIn)),
    ("unauthenticated", RPCError(.unauthenticated, account: work, message: "a message")),
    ("reauthRequired", RPCError(.reauthRequired, account: work, message: "a message", action: .signIn)),
    ("reauthRequired", RPCError(.reauthRequired, account: work, message: "a message")),
    ("locked", RPCError(.locked, account: work, message: "a message", action: .unlock)),
    ("locked", RPCError(.locked, account: work, message: "a message")),
    ("refreshUnavailable", RPCError(.refreshUnavailable, account: work, message: "a message")),
    (
      "refreshUnavailable",
      RPCError(
        .refreshUnavailable, account: work, message: "a message", action: .fixConfiguration, retryAfterSeconds: 5)
    ),
    ("unknownAccount", .unknownAccount("work")),
    ("originNotAllowed", RPCError(.originNotAllowed, account: work, message: "a message")),
    ("requestFailed", RPCError(.requestFailed, account: work, message: "a message")),
    ("challenge", RPCError(.challenge(challenge, work))),
    ("outboxFull", RPCError(.outboxFull, account: work, message: "a message")),
    ("outboxFull", RPCError(.outboxFull, message: "a message")),
    ("unknownItem", RPCError(.unknownItem, message: "There is no item \"an id\" in the outbox.")),
    ("invalidItemState", RPCError(.invalidItemState, account: work, message: "a message")),
    ("invalidItemState", RPCError(.invalidItemState, message: "a message")),
    ("idempotencyConflict", RPCError(.idempotencyConflict, account: work, message: "a message")),
    ("storageUnavailable", RPCError(.storageUnavailable, account: work, message: "a message")),
    ("storageUnavailable", RPCError(.storageUnavailable, message: "a message")),
    ("signInFailed", RPCError(.signInFailed, account: work, message: "a message")),
    ("signInExpired", RPCError(.signInExpired, account: work, message: "a message", action: .signIn)),
    ("signInDenied", RPCError(.signInDenied, account: work, message: "a message")),
    ("unknownSignIn", .unknownSignIn("an id")),
    ("flowNotSupported", RPCError(.flowNotSupported, account: work, message: "a message")),
    ("wrongPassphrase", RPCError(.wrongPassphrase, account: work, message: "a message", action: .unlock)),
    (
      "wrongPassphrase",
      RPCError(.wrongPassphrase, account: work, message: "a message", action: .unlock, retryAfterSeconds: 7)
    ),
    ("passphraseNeeded", RPCError(.passphraseNeeded, account: work, message: "a message", action: .unlock)),
  ]

  @Test("each error is answered as text that was recorded")
  func errors() throws {
    let entries = Self.errors.map { name, error in
      let answer = String(decoding: Response(id: 1, outcome: .failure(error)).line.dropLast(), as: UTF8.self)
      return "  {\n    \"case\": \"\(name)\",\n    \"answer\": \(answer)\n  }"
    }
    let text = "[\n" + entries.joined(separator: ",\n") + "\n]\n"
    #expect(try GoldenFile("errors.json").differences(from: text) == [])
  }

  @Test("every kind of error is among them")
  func kinds() {
    let missing = RPCError.Kind.allCases.filter { kind in !Self.errors.contains { $0.error.code == kind.code } }
    #expect(missing == [])
  }
}
