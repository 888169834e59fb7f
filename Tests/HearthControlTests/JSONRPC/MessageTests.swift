import HearthControl
import HearthCore
import TestSupport
import Testing

@Suite struct MessageTests {
  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test("an answer is one line with result or error, never both")
  func writesResponse() {
    let good = Response(id: "x", outcome: .success(["a": nil]))
    #expect(text(good.line) == #"{"jsonrpc":"2.0","id":"x","result":{"a":null}}"# + "\n")
    let bad = Response(id: .null, outcome: .failure(.parseError("No.")))
    #expect(text(bad.line) == #"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"No."}}"# + "\n")
    #expect(text(Response.line(batch: [Array(good.line.dropLast())])) == "[" + text(good.line).dropLast() + "]\n")
  }

  @Test("answers, calls and notifications are read back as they were written")
  func roundTrips() throws {
    for outcome: Result<JSON, RPCError> in [.success(.null), .failure(.unknownAccount("work"))] {
      let response = Response(id: 1, outcome: outcome)
      #expect(Response(json: try JSON(parsing: response.line)) == response)
    }
    let request = Request(id: 1, method: "m", params: ["a": 1])
    #expect(Incoming(line: request.line) == .single(.request(request)))
    let notification = Notification(.sessionRefreshed, params: ["seq": 1])
    let shared = SharedNotification(.sessionRefreshed, params: ["seq": 1, "a": ["b"]])
    let own = Notification(.sessionRefreshed, params: ["subscription": "7", "seq": 1, "a": ["b"]])
    let lines = NotificationLines([shared, shared], for: "7")
    #expect(lines.bytes == own.line + own.line, "for many it is what it would be for one")
    #expect(lines.count == 2)
    let json = try JSON(parsing: notification.line)
    #expect(Notification(json: json) == notification)
    #expect(Response(json: json) == nil)
    #expect(Notification(json: ["jsonrpc": "2.0", "id": 1, "result": 1]) == nil)
  }

  @Test("the contract's errors have its codes, kinds and whether to try again")
  func errors() {
    let table: [(Int, String, Bool)] = [
      (-32000, "shuttingDown", true), (-32001, "overloaded", true), (1001, "unauthenticated", false),
      (1002, "reauthRequired", false), (1003, "locked", true), (1004, "refreshUnavailable", true),
      (1005, "unknownAccount", false), (1006, "originNotAllowed", false), (1007, "requestFailed", true),
      (1008, "challenge", false), (1101, "outboxFull", true), (1102, "unknownItem", false),
      (1103, "invalidItemState", false),
      (1104, "idempotencyConflict", false), (1105, "storageUnavailable", true), (1201, "signInFailed", false),
      (1202, "signInExpired", false), (1203, "signInDenied", false), (1204, "unknownSignIn", false),
      (1205, "flowNotSupported", false), (1301, "wrongPassphrase", false), (1302, "passphraseNeeded", false),
      (-32700, "parseError", false), (-32600, "invalidRequest", false), (-32601, "methodNotFound", false),
      (-32602, "invalidParams", false), (-32603, "internalError", false),
    ]
    #expect(table.count == RPCError.Kind.allCases.count)
    for (code, name, isRetryable) in table {
      let kind = RPCError.Kind(code: code)
      #expect(kind?.rawValue == name)
      #expect(kind?.isRetryable == isRetryable)
    }
    #expect(RPCError.Kind(code: 4711) == nil)
  }

  @Test("an error's data says kind, retryable, account, message and action")
  func errorData() throws {
    let error = RPCError(.refreshUnavailable, account: AccountName("work"), message: "Later.", retryAfterSeconds: 7)
    #expect(
      error.json == [
        "code": 1004, "message": "Later.",
        "data": [
          "kind": "refreshUnavailable", "retryable": true, "account": "work", "message": "Later.", "action": nil,
          "retryAfterSeconds": 7,
        ],
      ])
    #expect(RPCError(json: error.json) == error)
    #expect(error.retryAfterSeconds == 7)
    #expect(RPCError(.unauthenticated, message: "m", action: .signIn).action == .signIn)
    let challenge = Challenge(
      origin: try Origin(ofServer: "https://api.example.com"), error: "insufficient_scope", scope: "a b")
    let refusal = RPCError(.challenge(challenge, AccountName("work")!))
    #expect(
      refusal.data?["challenge"]
        == [
          "origin": "https://api.example.com", "error": "insufficient_scope", "acrValues": nil, "maxAge": nil,
          "claims": nil, "scope": "a b",
        ])
    #expect(RPCError(json: refusal.json)?.challenge == challenge && refusal.action == nil)
  }
}
