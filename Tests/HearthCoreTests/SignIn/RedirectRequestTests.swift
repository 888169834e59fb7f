import HearthCore
import Testing

@Suite("What the browser comes back with")
struct RedirectRequestTests {
  private func signIn(
    at redirectURI: String = "http://127.0.0.1:4711/callback",
    _ issuer: BrowserSignIn.IssuerCheck = .ifPresent("https://id.example.com")
  ) -> BrowserSignIn {
    BrowserSignIn(
      authorizationURL: "https://id.example.com/authorize", redirectURI: redirectURI, state: Secret("s1"), nonce: nil,
      codeVerifier: Secret("v"), issuer: issuer)
  }

  private func request(
    _ target: String, _ method: String = "GET", host: String? = "127.0.0.1:4711"
  ) -> RedirectRequest { RedirectRequest(method: method, host: host, target: target, sender: .user) }

  @Test("A code with the state of the request is the answer")
  func code() {
    #expect(signIn().read(request("/callback?code=a%2Fb+c&state=s1")) == .code(Secret("a/b c")))
    let iss = "iss=https%3A%2F%2Fid.example.com"
    #expect(signIn().read(request("/callback?state=s1&\(iss)&code=x")) == .code(Secret("x")))
  }

  @Test(
    "A request that is not from the provider changes nothing",
    arguments: [
      ("/callback?code=x", "GET", "127.0.0.1:4711"), ("/callback?code=x&state=s2", "GET", "127.0.0.1:4711"),
      ("/callback?code=x&state=s1&state=s1", "GET", "127.0.0.1:4711"),
      ("/other?code=x&state=s1", "GET", "127.0.0.1:4711"), ("/callback/?code=x&state=s1", "GET", "127.0.0.1:4711"),
      ("/callback?code=x&state=s1", "POST", "127.0.0.1:4711"),
      ("/callback?code=x&state=s1", "GET", "evil.example:4711"),
      ("/callback?code=x&state=s1", "GET", "127.0.0.1"), ("/favicon.ico", "GET", "127.0.0.1:4711"),
      ("/", "GET", "127.0.0.1:4711"), ("", "GET", ""),
    ])
  func foreign(_ target: String, _ method: String, _ host: String) {
    #expect(signIn().read(request(target, method, host: host)) == .foreign)
  }

  @Test(
    "A request by another or an unknown user's process is reported and not used, even with the right state",
    arguments: [(RedirectSender.otherUser, "another user's program"), (.unknown, "cannot tell which user")])
  func otherUser(_ sender: RedirectSender, _ why: String) {
    func reading(_ target: String) -> RedirectReading {
      signIn().read(RedirectRequest(method: "GET", host: "127.0.0.1:4711", target: target, sender: sender))
    }
    for target in ["/callback?code=c0de&state=s1", "/callback?error=access_denied&state=s1", "/callback?state=s1"] {
      guard case .untrusted(let message) = reading(target) else {
        Issue.record("it is not told: \(target)")
        continue
      }
      #expect(message.contains(why) && !message.contains("c0de") && !message.contains("s1"))
    }
    #expect(reading("/callback?code=c0de&state=s2") == .foreign, "nobody's guesses are told")
    #expect(reading("/favicon.ico") == .foreign)
  }

  @Test("A request without a host is not the browser's")
  func noHost() {
    #expect(signIn().read(request("/callback?code=x&state=s1", host: nil)) == .foreign)
  }

  @Test("An answer from another issuer ends the sign-in and is not redeemed (RFC 9207)")
  func mixUp() {
    let target = "/callback?code=x&state=s1&iss=https%3A%2F%2Fevil.example"
    guard case .failed(.failed(let message)) = signIn().read(request(target)) else {
      Issue.record("it was accepted")
      return
    }
    #expect(message.contains("another provider") && !message.contains("evil"))
  }

  @Test("A provider that announces to name itself has to")
  func issuerRequired() {
    let strict = signIn(.required("https://id.example.com"))
    guard case .failed(.failed) = strict.read(request("/callback?code=x&state=s1")) else {
      Issue.record("it was accepted")
      return
    }
    #expect(
      strict.read(request("/callback?code=x&state=s1&iss=https%3A%2F%2Fid.example.com")) == .code(Secret("x")))
    #expect(signIn(.none).read(request("/callback?code=x&state=s1&iss=any")) == .code(Secret("x")))
  }

  private func signIn(_ issuer: BrowserSignIn.IssuerCheck) -> BrowserSignIn {
    signIn(at: "http://127.0.0.1:4711/callback", issuer)
  }

  @Test("A refusal by the user is reported as such, and other errors in the provider's words")
  func errors() {
    #expect(
      signIn().read(request("/callback?error=access_denied&state=s1"))
        == .failed(.denied(message: "The provider denied access: access_denied.")))
    let target = "/callback?error=server_error&error_description=It+is+%1B%5B31mbroken.&state=s1"
    guard case .failed(.failed(let message)) = signIn().read(request(target)) else {
      Issue.record("it is no failure")
      return
    }
    #expect(message.hasPrefix("The provider rejected the sign-in: It is ") && !message.contains("\u{1B}"))
    #expect(message.hasSuffix("broken."))
    guard case .failed(.failed) = signIn().read(request("/callback?state=s1")) else {
      Issue.record("nothing is no answer")
      return
    }
  }

  @Test("A copied address counts if it begins with the redirect URI")
  func copied() {
    let code = RedirectReading.code(Secret("x"))
    #expect(signIn().read(address: "http://127.0.0.1:4711/callback?code=x&state=s1") == code)
    #expect(signIn().read(address: "http://127.0.0.1:4711/callback?code=x&state=s1#top") == code)
    #expect(signIn().read(address: "http://127.0.0.1:4711/callback?code=x&state=s2") == .foreign)
    #expect(signIn().read(address: "http://127.0.0.1:4711/callback") == nil)
    #expect(signIn().read(address: "https://id.example.com/callback?code=x&state=s1") == nil)
    #expect(signIn(at: "http://localhost:4711").read(address: "http://localhost:4711/?code=x&state=s1") == code)
  }

  @Test("A redirect URI without a path is requested as /, and the host in any case is the same")
  func bare() {
    let bare = signIn(at: "http://localhost:4711")
    #expect(bare.read(request("/?code=x&state=s1", host: "LocalHost:4711")) == .code(Secret("x")))
    #expect(bare.read(request("/callback?code=x&state=s1", host: "localhost:4711")) == .foreign)
    #expect(bare.read(request("1?code=x&state=s1", host: "localhost:471")) == .foreign)
  }

  @Test(
    "An answer with any field twice is reported, and nothing of it is sent (RFC 6749, section 3.1)",
    arguments: ["code", "error", "iss", "session_state"])
  func repeated(_ name: String) {
    let issuer = "https%3A%2F%2Fid.example.com"
    for values in [("x", "y"), (issuer, issuer), (issuer, ""), ("", issuer), ("", "")] {
      let code = name == "code" ? "" : "&code=c"
      let target = "/callback?\(name)=\(values.0)\(code)&\(name)=\(values.1)&state=s1"
      for check in [BrowserSignIn.IssuerCheck.none, .ifPresent("https://id.example.com")] {
        guard case .failed(.failed(let message)) = signIn(check).read(request(target)) else {
          Issue.record("one of them was taken: \(target)")
          continue
        }
        #expect(
          message
            == "The provider's response contains \"\(name)\" more than once, so Hearth did not use it. "
            + "Start the sign-in again.")
      }
    }
  }

  @Test("Only a refused scope leads to the address without it")
  func scopeRefused() {
    let signIn = BrowserSignIn(
      authorizationURL: "https://id.example.com/authorize", fallbackURL: "https://id.example.com/authorize?less",
      redirectURI: "http://127.0.0.1:4711/callback", state: Secret("s1"), nonce: nil, codeVerifier: Secret("v"),
      issuer: .none)
    let refused = SignInFailure.failed(message: "The provider rejected the sign-in: invalid_scope.")
    #expect(
      signIn.read(request("/callback?error=invalid_scope&state=s1"))
        == .scopeRefused(refused, fallbackURL: "https://id.example.com/authorize?less"))
    #expect(
      signIn.read(request("/callback?error=server_error&state=s1"))
        == .failed(.failed(message: "The provider rejected the sign-in: server_error.")))
  }

  @Test("An error without a state is reported, and ends nothing; with another state it is foreign")
  func unclaimedError() {
    let told = RedirectReading.unclaimedError(message: "The provider says: not today.")
    #expect(signIn().read(request("/callback?error=access_denied&error_description=not+today")) == told)
    #expect(signIn().read(request("/callback?error=access_denied&error_description=not+today&state=")) == told)
    #expect(signIn().read(address: "http://127.0.0.1:4711/callback?error=e&error_description=not+today") == told)
    for target in [
      "/callback?error=e&state=s2", "/callback?error=e&state=s1&state=s1", "/callback?error=", "/callback?code=x",
      "/callback?error=e&error=f", "/other?error=e",
    ] {
      #expect(signIn().read(request(target)) == .foreign, "\(target)")
    }
  }

  @Test("White space around a copied address is ignored")
  func copiedWithBlanks() {
    let code = RedirectReading.code(Secret("x"))
    #expect(signIn().read(address: " \n\thttp://127.0.0.1:4711/callback?code=x&state=s1\r\n ") == code)
    #expect(signIn().read(address: "http://127.0.0.1:4711/callback?state=s1&code=x\n") == code)
    #expect(signIn().read(address: " \n") == nil)
  }
}
