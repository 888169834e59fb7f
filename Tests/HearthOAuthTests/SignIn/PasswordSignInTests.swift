import HearthCore
import NIOHTTP1
import TestSupport
import Testing

@testable import HearthOAuth

@Suite("Signing in without a browser", .serialized) struct PasswordSignInTests {
  private static let password = Secret("p@ss \"wörd\" 1")

  private func json(
    configured change: @escaping (inout JSONBackend, LoopbackServer) -> Void = { $0.loginURL = $1.url("/login") },
    _ body: (SignInBench) async throws -> Void
  ) async throws {
    try await SignInBench.run(
      kind: { server in
        var backend = JSONBackend(refreshURL: server.url("/refresh"))
        change(&backend, server)
        return .json(backend)
      }, body)
  }

  private func signIn(_ bench: SignInBench) async throws(SignInFailure) -> TokenResponse {
    try await bench.endpoint.signIn(username: "me@example.com", password: Self.password)
  }

  // MARK: - A backend

  @Test("a backend gets user name and password as JSON, and answers as to a refresh")
  func backend() async throws {
    try await json(configured: { backend, server in
      backend.loginURL = server.url("/login")
      backend.accessTokenField = "data.accessToken"
      backend.refreshTokenField = "refreshToken"
    }) { bench in
      #expect(bench.endpoint.takesPassword)
      bench.provider.grant("/login", #"{"data":{"accessToken":"a","refreshToken":"r","expires_in":60}}"#)
      let response = try await signIn(bench)
      #expect(response.accessToken.secret == Secret("a") && response.refreshToken?.secret == Secret("r"))
      #expect(response.lifetime == .seconds(60) && response.origin == bench.origin && response.origins == nil)
      let request = try #require(bench.requests.first)
      #expect(request.method == "POST" && request.headers["Content-Type"] == ["application/json"])
      #expect(
        JSONValue(parsing: Array(request.body.utf8))
          == ["username": "me@example.com", "password": .string(Self.password.reveal())])
    }
  }

  @Test("a grant of a backend is bound to where it is refreshed, wherever it was signed in")
  func binding() async throws {
    try await LoopbackServer.with({ _ in
      .answer(200, headers: [("Content-Type", "application/json")], body: #"{"access_token":"a"}"#)
    }) { login in
      try await json(configured: { backend, _ in
        backend.loginURL = login.url("/login")
      }) { bench in
        let response = try await signIn(bench)
        #expect(response.origin == bench.origin)
        #expect(login.requests.count == 1)
      }
    }
  }

  static let refusals: [(LoopbackServer.Reply, SignInFailure)] = [
    (
      .answer(401, body: #"{"message":"Wrong password."}"#),
      .denied(message: "rejected the user name or password: HTTP 401, Wrong password.")
    ),
    (
      .answer(403, body: "{}"),
      .denied(message: "rejected the user name or password: HTTP 403, a response without an error code.")
    ),
    (
      .answer(400, body: #"{"error":"invalid_credentials"}"#),
      .denied(message: "rejected the user name or password: HTTP 400, invalid_credentials.")
    ),
    (
      .answer(400, body: #"{"error":"bad_request","message":"No field email."}"#),
      .failed(message: "rejected the sign-in request: HTTP 400, bad_request, No field email.")
    ),
    (
      .answer(401, headers: [("Content-Type", "text/html")], body: "<html>"),
      .unavailable(
        message: "returned HTTP 401 with a web page (perhaps the network's sign-in page).", retryAfter: nil)
    ),
    (
      .answer(404, body: "{}"),
      .failed(
        message: "has no sign-in endpoint at the expected address (HTTP 404, a response without an error code). "
          + "Check the configuration.")
    ),
    (.answer(200, body: "{}"), .failed(message: "returned HTTP 200 with no access token.")),
    (.answer(500), .unavailable(message: "cannot sign you in now: HTTP 500, an empty response.", retryAfter: nil)),
  ]

  @Test("a wrong password is told from a backend that cannot be asked", arguments: refusals.indices)
  func refusal(_ index: Int) async throws {
    try await json { bench in
      bench.provider.answer("/login", with: Self.refusals[index].0)
      #expect(await bench.failure { try await signIn(bench) } == Self.refusals[index].1.said(by: bench.base))
    }
  }

  @Test("what a backend repeats of the password is in no message")
  func echo() async throws {
    try await json { bench in
      bench.provider.answer(
        "/login", with: .answer(400, body: #"{"error":"odd","message":"p@ss \"wörd\" 1 is wrong"}"#))
      let failure = try #require(await bench.failure { try await signIn(bench) })
      #expect(!failure.message.contains("p@ss") && failure.message.contains(Redactor.replacement))
    }
  }

  // MARK: - Firebase

  private func firebase(_ path: String = "/token", _ body: (SignInBench) async throws -> Void) async throws {
    try await SignInBench.run(
      kind: {
        .firebase(FirebaseProject(apiKey: Secret("key-0123"), tokenEndpoint: $0.url(path)))
      }, body)
  }

  private static let signInPath = "/identitytoolkit.googleapis.com/v1/accounts:signInWithPassword"

  @Test("Firebase is asked with e-mail address and password, an emulator below the name of Google's host")
  func firebase() async throws {
    for (path, prefix) in [
      ("/securetoken.googleapis.com/v1/token", ""), ("/token", ""), ("/x/securetoken.googleapis.com/v1/token", "/x"),
    ] {
      try await firebase(path) { bench in
        // As the emulator has it: not signed.
        let idToken = IDTokenMint.token(["iss": "i", "sub": "u", "exp": 1], header: ["alg": "none"], by: .nobody)
        bench.provider.grant(
          prefix + Self.signInPath,
          #"{"kind":"x","localId":"u","idToken":"\#(idToken)","refreshToken":"r","expiresIn":"3600","registered":true}"#
        )
        let response = try await signIn(bench)
        #expect(response.idToken?.secret == Secret(idToken) && response.refreshToken?.secret == Secret("r"))
        #expect(response.lifetime == .seconds(3600) && response.subject == Subject(issuer: "i", id: "u"))
        #expect(response.origin == bench.origin)
        let request = try #require(bench.requests.first)
        #expect(request.target == prefix + Self.signInPath + "?key=key-0123")
        #expect(
          JSONValue(parsing: Array(request.body.utf8)) == [
            "email": "me@example.com", "password": .string(Self.password.reveal()), "returnSecureToken": .bool(true),
          ])
      }
    }
  }

  /// https://firebase.google.com/docs/reference/rest/auth#section-sign-in-email-password
  static let firebaseErrors: [(String, SignInFailure)] = [
    (
      "INVALID_LOGIN_CREDENTIALS",
      .denied(message: "rejected the user name or password: HTTP 400, INVALID_LOGIN_CREDENTIALS.")
    ),
    ("INVALID_PASSWORD", .denied(message: "rejected the user name or password: HTTP 400, INVALID_PASSWORD.")),
    ("EMAIL_NOT_FOUND", .denied(message: "rejected the user name or password: HTTP 400, EMAIL_NOT_FOUND.")),
    ("USER_DISABLED", .denied(message: "rejected the user's account: HTTP 400, USER_DISABLED.")),
    (
      "TOO_MANY_ATTEMPTS_TRY_LATER : Access was disabled.",
      .unavailable(
        message:
          "cannot sign you in now: HTTP 400, TOO_MANY_ATTEMPTS_TRY_LATER, TOO_MANY_ATTEMPTS_TRY_LATER : Access was disabled.",
        retryAfter: nil)
    ),
    (
      "OPERATION_NOT_ALLOWED", .failed(message: "rejected the sign-in request: HTTP 400, OPERATION_NOT_ALLOWED.")
    ),
  ]

  @Test("Firebase's errors mean what it documents", arguments: firebaseErrors.indices)
  func firebaseError(_ index: Int) async throws {
    let (code, expected) = Self.firebaseErrors[index]
    try await firebase { bench in
      bench.provider.answer(
        Self.signInPath, with: .answer(400, body: #"{"error":{"code":400,"message":"\#(code)"}}"#))
      #expect(await bench.failure { try await signIn(bench) } == expected.said(by: bench.base))
    }
  }

  @Test("a second factor that Firebase asks for is told, and the project's key and the password never")
  func secrets() async throws {
    try await firebase { bench in
      bench.provider.grant(Self.signInPath, #"{"localId":"u","mfaPendingCredential":"m","mfaInfo":[]}"#)
      let told = "returned HTTP 200 with a request for a second factor, which Hearth cannot provide."
      #expect(
        await bench.failure { try await signIn(bench) } == SignInFailure.failed(message: told).said(by: bench.base))
      bench.provider.answer(
        Self.signInPath, with: .answer(400, body: #"{"error":{"message":"key-0123 p@ss \"wörd\" 1"}}"#))
      let failure = try #require(await bench.failure { try await signIn(bench) })
      #expect(!failure.message.contains("key-0123") && !failure.message.contains("p@ss"))
    }
  }

  // MARK: - What is not there

  @Test("a flow that an account does not have is told with the one that it has")
  func otherFlow() async throws {
    func refusals(_ bench: SignInBench) async -> Set<SignInFailure?> {
      let signIn = BrowserSignIn(
        authorizationURL: "", redirectURI: "", state: Secret(""), nonce: nil, codeVerifier: Secret(""), issuer: .none)
      let device = DeviceSignIn(
        deviceCode: Secret(""), userCode: "", verificationURI: "", verificationURIComplete: nil, lifetime: .zero,
        interval: .zero)
      return [
        await bench.failure { try await bench.endpoint.beginBrowser(redirectURI: "r") },
        await bench.failure { try await bench.redeem(signIn) },
        await bench.failure { try await bench.endpoint.beginDevice() },
        await bench.failure { try await bench.endpoint.poll(device) },
      ]
    }
    try await json { bench in
      let told =
        "An account of type json cannot sign in with a browser or a device code. Sign in with a user name and a "
        + "password."
      #expect(await refusals(bench) == [.notSupported(message: told)])
    }
    try await json(configured: { _, _ in
    }) { bench in
      let told =
        "This account has no \"login_url\", so it can only import a refresh token. To sign in with a user name and a "
        + "password, set the URL with \"hearthctl account set ACCOUNT login_url URL\"."
      #expect(!bench.endpoint.takesPassword)
      #expect(await refusals(bench) == [.notSupported(message: told)])
      #expect(await bench.failure { try await signIn(bench) } == .notSupported(message: told))
    }
    try await firebase { bench in
      let told =
        "An account of type firebase cannot sign in with a browser or a device code. Sign in with an email address and "
        + "a password."
      #expect(bench.endpoint.takesPassword)
      #expect(await refusals(bench) == [.notSupported(message: told)])
    }
    try await SignInBench.run(kind: {
      .clientCredentials(.named(ProviderEndpoints(token: $0.url("/token"))), OAuthClient(id: "h"))
    }) { bench in
      let told = "An account of type client-credentials needs no sign-in. Hearth gets its token automatically."
      #expect(!bench.endpoint.takesPassword)
      #expect(await refusals(bench) == [.notSupported(message: told)])
      #expect(await bench.failure { try await signIn(bench) } == .notSupported(message: told))
      #expect(bench.requests.isEmpty)
    }
  }
}
