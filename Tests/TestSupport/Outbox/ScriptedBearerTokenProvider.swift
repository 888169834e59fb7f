package import HearthCore
import Synchronization

extension Failure {
  /// The failure of a session that has no token.
  package static let noSession = Failure(.unauthenticated, "Nobody is signed in.")

  /// The failure if a token can be had only from a provider that is unavailable.
  package static func unavailable(message: String, retryAfter: Duration?) -> Failure {
    Failure(.refreshUnavailable, message, retryAfter: retryAfter)
  }
}

/// Sessions whose tokens the test sets. Rejecting the current token brings the next one, or what the test says.
package final class ScriptedBearerTokenProvider: BearerTokenProvider {
  private struct State {
    var subject: Subject?
    var generation = 1
    var failure: Failure?
    /// The result of rejecting the current token, or nil if that brings the next one.
    var refusal: Failure?
    /// The number of rejections of the current token after which the session ends.
    var refusalsLeft: Int
    var rejections: [APIRejection] = []
    var accepted: [Fingerprint] = []
    /// Whether a rejected token stays in use, so that the rejection is the answer to that request only.
    var keepsToken = false
  }

  private let state: Mutex<State>

  package init(subject: Subject?, refusals: Int = .max) {
    state = Mutex(State(subject: subject, refusalsLeft: refusals))
  }

  package static func token(_ generation: Int) -> Token {
    let digits = String(generation, radix: 16)
    let text = String(repeating: "0", count: 8 - digits.count) + digits
    return Token(secret: Secret("the-secret-token-\(generation)"), fingerprint: Fingerprint(text)!)
  }

  /// The rejected fingerprints, in order.
  package var refused: [Fingerprint] { refusals.map(\.fingerprint) }
  package var refusals: [APIRejection] { state.withLock(\.rejections) }
  package var current: Token { state.withLock { Self.token($0.generation) } }

  package func set(subject: Subject?) { state.withLock { $0.subject = subject } }
  package func set(failure: Failure?) { state.withLock { $0.failure = failure } }
  package func set(refusal: Failure?) { state.withLock { $0.refusal = refusal } }
  package func keepToken() { state.withLock { $0.keepsToken = true } }
  /// The tokens of each request that got a 2xx, in order.
  package var accepted: [Fingerprint] { state.withLock(\.accepted) }
  package func renew() { state.withLock { $0.generation += 1 } }

  package func bearer(for account: AccountName) async throws(Failure) -> Bearer {
    try state.withLock { state throws(Failure) in try Self.bearer(state, account) }
  }

  package func tokenRejected(_ rejection: APIRejection, of account: AccountName) async throws(Failure) -> Bearer {
    try state.withLock { state throws(Failure) in
      state.rejections.append(rejection)
      if let failure = state.refusal { throw failure }
      let isCurrent = rejection.fingerprint == Self.token(state.generation).fingerprint
      if isCurrent, state.failure == nil, !state.keepsToken {
        if state.refusalsLeft == 0 { state.failure = .noSession } else { state.generation += 1 }
        state.refusalsLeft -= 1
      }
      return try Self.bearer(state, account)
    }
  }

  package func tokenAccepted(_ fingerprint: Fingerprint, by _: HTTPURL, of _: AccountName) {
    state.withLock { $0.accepted.append(fingerprint) }
  }

  private static func bearer(_ state: State, _ account: AccountName) throws(Failure) -> Bearer {
    if let failure = state.failure { throw failure }
    let token = token(state.generation)
    return Bearer(
      of: account, token: token, subject: state.subject, secrets: [token.secret, Secret("the-refresh-token")])
  }
}
