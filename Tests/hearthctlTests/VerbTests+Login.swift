import HearthControl
import HearthCore
import TestSupport
import Testing

/// `hearthctl login`.
extension VerbTests {
  /// The flows that were asked for, in their order.
  private func flows(_ asked: [Request]) -> [String] {
    asked.filter { $0.method == "session.beginSignIn" }.compactMap { $0.params["flow"]?.string }
  }

  @Test("login --refresh-token-stdin imports what stands on standard input, without white space")
  func importToken() async throws {
    let (outcome, asked) = try await run(["login", "work", "--refresh-token-stdin", "--replace"], input: " r-1\n") {
      _ in
      .result(Samples.session().json)
    }
    #expect(outcome.status == 0)
    #expect(outcome.output == "Signed in to work as 2482.\n")
    #expect(asked[0].method == "session.import")
    #expect(asked[0].params == ["account": "work", "refreshToken": "r-1", "replace": true])
  }

  @Test("login --refresh-token-stdin finds the token in JSON")
  func importFromJSON() async throws {
    let line = ["login", "work", "--refresh-token-stdin"]
    let given = "{\n \"access_token\": \"a\", \"refresh_token\": \"r-1\"\n}\n"
    let (outcome, asked) = try await run(line, input: given) { _ in .result(Samples.session().json) }
    #expect(outcome.status == 0 && asked[0].params["refreshToken"] == "r-1")
  }

  @Test("login --refresh-token-stdin sends nothing of JSON that has no refresh token")
  func importOfOtherJSON() async throws {
    let line = ["login", "work", "--refresh-token-stdin"]
    let (refused, nothing) = try await run(line, input: #"{"access_token":"secret"}"#) { _ in .result(nil) }
    #expect(refused.status == 1 && nothing.allSatisfy { $0.method != ImportGrant.name })
    #expect(refused.errors.contains("is JSON, not a secret") && !refused.errors.contains("\"secret\""))
  }

  @Test("login alone begins with the first flow that the account has, and waits for it")
  func login() async throws {
    let (outcome, asked) = try await run(["login", "work", "--replace"]) { request in
      guard request.method == "session.beginSignIn" else { return .result(Samples.session().json) }
      return request.params["flow"] == "client-credentials"
        ? .result(["signIn": "s1", "expiresAt": nil])
        : .error(RPCError(.flowNotSupported, message: "Not this flow."))
    }
    #expect(outcome.status == 0)
    #expect(outcome.output == "Signed in to work as 2482.\n")
    #expect(outcome.errors == "")
    #expect(flows(asked) == ["device", "browser", "client-credentials"], "without a display the browser is elsewhere")
    #expect(asked.filter { $0.method == "session.beginSignIn" }.allSatisfy { $0.params["replace"] == true })
    #expect(asked.contains { $0.method == "session.awaitSignIn" && $0.params == ["signIn": "s1"] })
  }

  @Test("login says as whom by the name in the tokens, and before that whose session and queue another user would end")
  func loginNames() async throws {
    let token: JSON = [
      "account": "work", "accessToken": "a-1", "tokenType": "Bearer", "expiresAt": nil, "fingerprint": "9f86d081",
      "subject": "2482", "issuer": "https://id.example.com", "names": ["ada@example.com", "ada"],
    ]
    let (outcome, asked) = try await run(["login", "work", "--device"]) { request in
      switch request.method {
      case "session.beginSignIn": .result(["signIn": "s1", "userCode": "WDJB-MJHT", "expiresAt": nil])
      case "session.getToken": .result(token)
      case "outbox.getStats": .result(Samples.stats(pending: 2, waiting: 1).json)
      default: .result(Samples.session().json)
      }
    }
    #expect(outcome.status == 0 && outcome.output == "Signed in to work as ada@example.com.\n")
    #expect(
      outcome.errors.hasPrefix(
        "ada@example.com is signed in to work. If another user signs in, ada@example.com's session ends.\n3 "
          + "outbox items are waiting for ada@example.com. If another user signs in, Hearth holds them "
          + "until ada@example.com signs in again.\n"), "\(outcome.errors)")
    let names = asked.filter { $0.method == "session.getToken" }
    #expect(names.allSatisfy { $0.params["names"] == true && $0.params["minValiditySeconds"] == 0 })
  }

  @Test("login warns of nobody where nobody is signed in and nothing waits")
  func loginFirst() async throws {
    let (outcome, _) = try await run(["login", "work", "--device"]) { request in
      switch request.method {
      case "session.beginSignIn": .result(["signIn": "s1", "userCode": "WDJB-MJHT", "expiresAt": nil])
      case "session.get": .result(Samples.signedOut.json)
      case "outbox.getStats": .result(Samples.stats().json)
      default: .result(Samples.session().json)
      }
    }
    #expect(outcome.status == 0 && !outcome.errors.contains("another user"))
  }

  @Test("login shows the code for another device and where it is typed in, and waits")
  func loginByDevice() async throws {
    let begun: JSON = [
      "signIn": "s1", "verificationUri": "https://id.example.com/device", "verificationUriComplete": nil,
      "userCode": "WDJB-MJHT", "expiresAt": nil,
    ]
    let (outcome, asked) = try await run(["login", "work", "--device"]) { request in
      request.method == "session.beginSignIn" ? .result(begun) : .result(Samples.session().json)
    }
    #expect(outcome.status == 0 && outcome.output == "Signed in to work as 2482.\n")
    #expect(outcome.errors.contains("https://id.example.com/device") && outcome.errors.contains("  WDJB-MJHT\n"))
    #expect(flows(asked) == ["device"])
  }

  @Test("login mentions no other device if the page is on this machine")
  func loginByLocalDevice() async throws {
    let begun: JSON = [
      "signIn": "s1", "verificationUri": "http://127.0.0.1:8790/device", "verificationUriComplete": nil,
      "userCode": "WDJB-MJHT", "expiresAt": nil,
    ]
    let (outcome, _) = try await run(["login", "work", "--device"]) { request in
      request.method == "session.beginSignIn" ? .result(begun) : .result(Samples.session().json)
    }
    #expect(outcome.errors.contains("On this machine, open\n\n  http://127.0.0.1:8790/device\n"))
  }

  @Test("login says what became of a sign-in that failed")
  func loginFails() async throws {
    let (outcome, _) = try await run(["login", "work", "--device"]) { request in
      request.method == "session.beginSignIn"
        ? .result(["signIn": "s1", "expiresAt": nil]) : .error(RPCError(.signInDenied, message: "You said no."))
    }
    #expect(outcome.status == 1)
    #expect(outcome.output == "" && outcome.errors.hasSuffix("hearthctl: You said no.\n"))
  }

  /// A daemon whose account takes user name and password.
  private static let backend: @Sendable (Request) -> FakeDaemon.Answer = { request in
    guard request.method == "session.beginSignIn" else { return .result(Samples.session().json) }
    if request.params["flow"] != "password" { return .error(RPCError(.flowNotSupported, message: "Not this flow.")) }
    return request.params["password"] == nil
      ? .error(.invalidParams("Give both.")) : .result(["signIn": "s1", "expiresAt": nil])
  }

  @Test("login reads the password of a backend that takes one")
  func loginByPassword() async throws {
    let line = ["login", "work", "--username", "ada"]
    let (outcome, asked) = try await run(line, input: "secret\n", answer: Self.backend)
    #expect(outcome.status == 0)
    #expect(asked.contains { $0.params["username"] == "ada" && $0.params["password"] == "secret" })
  }

  @Test("login asks for no name where there is no terminal")
  func loginWithoutName() async throws {
    let (outcome, _) = try await run(["login", "work"], input: "secret\n", answer: Self.backend)
    #expect(outcome.status == 64 && outcome.errors.contains("--username"))
  }

  @Test("login alone says what can be done for an account that has none of the flows")
  func loginUnsupported() async throws {
    let (outcome, asked) = try await run(["login", "work"]) { _ in
      .error(RPCError(.flowNotSupported, message: "Not this flow."))
    }
    #expect(outcome.status == 1)
    #expect(outcome.output == "")
    #expect(
      outcome.errors == "hearthctl: Not this flow. If you have a refresh token, run \"hearthctl login work "
        + "--refresh-token-stdin\".\n")
    #expect(flows(asked).count == 4)
  }
}
