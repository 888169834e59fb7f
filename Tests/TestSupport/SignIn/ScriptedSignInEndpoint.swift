package import HearthCore
import Synchronization

/// A provider that answers each step of a sign-in as the test says, and waits if the test has not said yet.
package final class ScriptedSignInEndpoint: SignInEndpoint {
  package typealias Answer = Result<GrantAnswer, SignInFailure>

  private struct State {
    var codes: [Secret] = []
    var polls = 0
    var answers: [Answer] = []
    var waiting: [CheckedContinuation<Answer, Never>] = []
    var asked: [CheckedContinuation<Void, Never>] = []
    var beginning: SignInFailure?
    var whenAsked: @Sendable () async -> Void = {}
  }

  private let state = Mutex(State())
  package let redirect: RedirectAddress
  package let takesPassword: Bool

  package init(redirect: RedirectAddress = RedirectAddress(), takesPassword: Bool = false) {
    self.redirect = redirect
    self.takesPassword = takesPassword
  }

  package static let state = Secret("the-state")
  package static let fallbackURL = "https://id.example.com/authorize?without=the-scope"

  package static let device = DeviceSignIn(
    deviceCode: Secret("device-code"), userCode: "WDJB-MJHT", verificationURI: "https://id.example.com/device",
    verificationURIComplete: nil, lifetime: .seconds(900), interval: .seconds(5))

  package static func browser(redirectURI: String = "http://127.0.0.1:4711/callback") -> BrowserSignIn {
    BrowserSignIn(
      authorizationURL: "https://id.example.com/authorize", fallbackURL: fallbackURL, redirectURI: redirectURI,
      state: state, nonce: nil, codeVerifier: Secret("verifier"), issuer: .ifPresent("https://id.example.com"))
  }

  /// The redeemed codes, in order.
  package var codes: [Secret] { state.withLock(\.codes) }
  package var polls: Int { state.withLock(\.polls) }

  /// Makes every sign-in fail to start from now on.
  package func failToBegin(_ failure: SignInFailure) { state.withLock { $0.beginning = failure } }

  /// What happens when the provider is asked to start a sign-in, or for a grant with a password.
  package func whenAsked(_ body: @escaping @Sendable () async -> Void) { state.withLock { $0.whenAsked = body } }

  package func answer(_ answer: Result<TokenResponse, SignInFailure>) { give(answer.map { .granted($0) }) }

  /// Answers a poll.
  package func answer(_ notYet: DevicePolling.Answer) { give(.success(.notYet(notYet))) }

  private func give(_ answer: Answer) {
    let waiting: CheckedContinuation<Answer, Never>? = state.withLock { state in
      if !state.waiting.isEmpty { return state.waiting.removeFirst() }
      state.answers.append(answer)
      return nil
    }
    waiting?.resume(returning: answer)
  }

  /// Returns when the provider is being asked for a grant.
  package func waitUntilAsked() async {
    await withCheckedContinuation { continuation in
      let isAsked = state.withLock { state in
        if state.waiting.isEmpty { state.asked.append(continuation) }
        return !state.waiting.isEmpty
      }
      if isAsked { continuation.resume() }
    }
  }

  package func beginBrowser(redirectURI: String) async throws(SignInFailure) -> BrowserSignIn {
    try failIfTold()
    await state.withLock(\.whenAsked)()
    return Self.browser(redirectURI: redirectURI)
  }

  package func redeem(code: Secret, of signIn: BrowserSignIn) async throws(SignInFailure) -> TokenResponse {
    state.withLock { $0.codes.append(code) }
    return try await granted()
  }

  package func beginDevice() async throws(SignInFailure) -> DeviceSignIn {
    try failIfTold()
    await state.withLock(\.whenAsked)()
    return Self.device
  }

  package func poll(_ signIn: DeviceSignIn) async throws(SignInFailure) -> GrantAnswer {
    state.withLock { $0.polls += 1 }
    return try await next()
  }

  package func signIn(username: String, password: Secret) async throws(SignInFailure) -> TokenResponse {
    guard takesPassword else { throw .notSupported(message: "The account takes no password.") }
    await state.withLock(\.whenAsked)()
    return try await granted()
  }

  package func endSession(of signedOut: Credential?) async throws(SignInFailure) -> String {
    "https://id.example.com/logout"
  }

  private func failIfTold() throws(SignInFailure) {
    if let failure = state.withLock(\.beginning) { throw failure }
  }

  private func granted() async throws(SignInFailure) -> TokenResponse {
    guard case .granted(let response) = try await next() else { throw .failed(message: "Nothing was granted.") }
    return response
  }

  private func next() async throws(SignInFailure) -> GrantAnswer {
    let answer = await withCheckedContinuation { continuation in
      let (ready, asked): (Answer?, [CheckedContinuation<Void, Never>]) = state.withLock { state in
        if !state.answers.isEmpty { return (state.answers.removeFirst(), []) }
        state.waiting.append(continuation)
        defer { state.asked = [] }
        return (nil, state.asked)
      }
      if let ready { continuation.resume(returning: ready) }
      for waiter in asked { waiter.resume() }
    }
    return try answer.get()
  }
}
