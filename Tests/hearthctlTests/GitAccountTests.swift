import HearthControl
import HearthCore
import TestSupport
import Testing

@testable import hearthctl

/// Whose token git gets if several accounts have the server.
@Suite(.timeLimit(.minutes(1))) struct GitAccountTests {
  private struct Account: Sendable {
    let name: String
    var subject: String?
    var username: String?
    /// What the daemon says of the token's user.
    var names: [String] = []
    var refusal: RPCError?
    var hasServer = true

    var json: JSON {
      var status = Samples.session(name, subject: subject ?? "")
      if subject == nil { status.subject = nil }
      status.username = username
      return status.json
    }

    func answer(_ request: Request) -> FakeDaemon.Answer {
      guard hasServer else { return .error(RPCError(.originNotAllowed, message: "It goes nowhere else.")) }
      if let refusal { return .error(refusal) }
      var answer = Samples.token.object ?? [:]
      answer["account"] = .string(name)
      answer["accessToken"] = .string("token-of-\(name)")
      if request.params["names"] == true { answer["names"] = .array(names.map { .string($0) }) }
      return .result(.object(answer))
    }
  }

  private static let locked = RPCError(.locked, message: "Locked.")

  /// Returns the password's owner, who it is for, and what was said.
  private func git(
    _ accounts: [Account], user: String? = nil, _ options: [String] = []
  ) async throws -> Program.Outcome {
    let daemon = FakeDaemon { request in
      if request.method == ListSessions.name { return .result(["sessions": .array(accounts.map(\.json))]) }
      return accounts.first { $0.name == request.params["account"]?.string }?.answer(request)
        ?? .error(RPCError(.unknownAccount, message: "There is no such account."))
    }
    let name = user.map { "username=\($0)\n" } ?? ""
    return try await Program.run(
      ["credential", "git"] + options + ["get"], input: "protocol=https\nhost=git.example.com\n\(name)\n",
      environment: ["HEARTH_SOCKET": daemon.path])
  }

  private func answer(_ user: String, _ account: String) -> String {
    "username=\(user)\npassword=token-of-\(account)\n"
  }

  private let home = Account(name: "home", subject: "bob", names: ["bob", "bob@example.com"])

  @Test("the user that git names gets their own account's token, known by subject, mail address or username")
  func named() async throws {
    let work = Account(name: "work", subject: "2482", username: "ada-work", names: ["2482", "Ada@example.com"])
    for user in ["2482", "ada-work", "ada@example.com"] {
      #expect(try await git([home, work], user: user).output == answer(user, "work"), "\(user)")
    }
    #expect(try await git([home, work], user: "bob@example.com").output == answer("bob@example.com", "home"))
    #expect(try await git([home, work], user: "ada-work", ["--account", "work"]).status == 0)
  }

  @Test("no account's token is given under another's name, nor under a name that is nobody's")
  func others() async throws {
    let work = Account(name: "work", subject: "ada-work", names: ["ada-work"])
    var elsewhere = work
    elsewhere.hasServer = false
    let nobody: [Program.Outcome] = [
      try await git([home, work], user: "carol"), try await git([home, elsewhere], user: "ada-work"),
      try await git([home, work], user: "ada-work", ["--account", "home"]), try await git([home], user: "carol"),
      try await git([Account(name: "a"), Account(name: "b")], user: "carol"),
    ]
    for outcome in nobody { #expect((outcome.status, outcome.output) == (0, "")) }
    #expect(nobody[0].errors.contains("belongs to \"carol\"") && nobody[0].errors.contains("--account"))
  }

  @Test("a name that Hearth does not know is taken for the chosen account, or for the only one without any name")
  func unknown() async throws {
    #expect(try await git([home], user: "carol", ["--account", "home"]).output == answer("carol", "home"))
    #expect(try await git([Account(name: "work")], user: "carol").output == answer("carol", "work"))
    let elsewhere = Account(name: "a", subject: "x", hasServer: false)
    #expect(try await git([elsewhere, Account(name: "work")], user: "carol").output == answer("carol", "work"))
  }

  @Test("the names that hosts document for any token choose no account", arguments: ["oauth2", "x-access-token", "me"])
  func anybody(user: String) async throws {
    #expect(try await git([home], user: user, ["--username", "me"]).output == answer(user, "home"))
  }

  @Test("without a name git gets the one that the account has, or that the helper was told")
  func unnamed() async throws {
    let work = Account(name: "work", subject: "2482", username: "ada-work")
    #expect(try await git([work]).output == answer("ada-work", "work"))
    #expect(try await git([work], ["--username", "me"]).output == answer("me", "work"))
    #expect(try await git([home]).output == answer("oauth2", "home"))
  }

  @Test("an account that is locked or signed out stops no other one, and says so only if none answers")
  func refused() async throws {
    var (first, second) = (home, Account(name: "work", subject: "ada-work", names: ["ada-work"]))
    for refusal in [Self.locked, RPCError(.unauthenticated, message: "Signed out.")] {
      first.refusal = refusal
      let outcome = try await git([first, second])
      #expect((outcome.output, outcome.errors, outcome.status) == (answer("oauth2", "work"), "", 0))
      #expect(try await git([first, second], user: "ada-work").output == answer("ada-work", "work"))
    }
    // Named, it is final: nobody else may give that user's password.
    let named = try await git([first, second], user: "bob")
    #expect((named.output, named.errors, named.status) == ("quit=1\n", "hearthctl: Signed out.\n", 3))
    // Whether it is this user's cannot be known, so another helper may answer.
    let unsure = try await git([first, second], user: "carol")
    #expect((unsure.output, unsure.status) == ("", 3))
    second.refusal = Self.locked
    let all = try await git([first, second])
    #expect((all.output, all.errors, all.status) == ("quit=1\n", "hearthctl: Signed out.\n", 3))
  }

  @Test("a locked account stops no other one for docker, kubectl and Google either")
  func otherHelpers() async throws {
    let daemon = FakeDaemon { request in
      if request.method == ChooseAccount.name {
        return .result(["account": nil, "reason": nil, "accounts": ["home", "work"]])
      }
      guard request.params["account"] == "work" else { return .error(Self.locked) }
      var token = Samples.token.object ?? [:]
      token["accessToken"] = "a.b.c"
      return .result(.object(token))
    }
    for words in [["docker", "get"], ["kubectl", "--for", "https://x.example.com"], ["google"]] {
      let outcome = try await Program.run(
        ["credential"] + words, input: "x.example.com\n", environment: ["HEARTH_SOCKET": daemon.path])
      #expect(outcome.status == 0 && outcome.output.contains("a.b.c"), "\(words)")
    }
  }
}
