package import HearthCore
import Synchronization

/// A token endpoint that answers when the test says so, and reports the requests that have arrived.
package final class ScriptedTokenEndpoint: TokenEndpoint {
  package enum Answer: Sendable {
    case granted(TokenResponse)
    case failed(RefreshFailure)
  }

  private struct State {
    var arrived: [Credential] = []
    var waiting: [CheckedContinuation<Answer, Never>] = []
    var answers: [Answer] = []
    var watchers: [AsyncStream<Int>.Continuation] = []
    var inFlight = 0
    var mostInFlight = 0
    var revoked: [Credential] = []
    var revocations = RevocationOutcome.revoked
    /// The waiting revocations, or nil if revocations do not wait.
    var heldRevocations: [CheckedContinuation<Void, Never>]?
    var subject: Subject?
    var origin: Origin? = .sample
    var origins: Set<Origin>?
    var expiry: Timestamp?
    var expiries: [Token: Timestamp] = [:]
    var time: Timestamp?
    var whenAsked: @Sendable () -> Void = {}
  }

  private let state = Mutex(State())

  package init() {}

  package func refresh(_ credential: Credential) async throws(RefreshFailure) -> TokenResponse {
    guard isOwn(credential) else { throw .misconfigured(message: "The credential is bound to another origin.") }
    guard credential.grant.refreshToken != nil else { throw .misconfigured(message: "There is no refresh token.") }
    let answer = await withCheckedContinuation { continuation in
      let ready: Answer? = state.withLock { state in
        state.arrived.append(credential)
        state.inFlight += 1
        state.mostInFlight = Swift.max(state.mostInFlight, state.inFlight)
        state.watchers.forEach { $0.yield(state.arrived.count) }
        if !state.answers.isEmpty { return state.answers.removeFirst() }
        state.waiting.append(continuation)
        return nil
      }
      if let ready { continuation.resume(returning: ready) }
    }
    state.withLock { $0.inFlight -= 1 }
    switch answer {
    case .granted(let response): return response
    case .failed(let failure): throw failure
    }
  }

  package func revoke(_ credential: Credential) async -> RevocationOutcome {
    guard isOwn(credential) else { return .unavailable(retryAfter: nil) }
    await withCheckedContinuation { continuation in
      let isHeld = state.withLock { state in
        state.revoked.append(credential)
        state.heldRevocations?.append(continuation)
        return state.heldRevocations != nil
      }
      if !isHeld { continuation.resume() }
    }
    return state.withLock(\.revocations)
  }

  package func identify(_ credential: Credential) async -> Subject? {
    state.withLock(\.whenAsked)()
    return state.withLock(\.subject)
  }

  package func expiry(of token: Token, at now: Timestamp) -> Timestamp? {
    state.withLock { $0.expiries[token] ?? $0.expiry }
  }

  package func time() async throws(RefreshFailure) -> Timestamp {
    guard let time = state.withLock(\.time) else { throw .unavailable(message: "no Date", retryAfter: nil) }
    return time
  }

  package func origin() async -> Origin? { state.withLock(\.origin) }

  package func origins() async -> Set<Origin>? { state.withLock(\.origins) }

  private func isOwn(_ credential: Credential) -> Bool {
    let origin = state.withLock(\.origin)
    return credential.origin == nil || origin == nil || credential.origin == origin
  }

  /// Sets the result of `revoke`.
  package func answersRevocations(_ outcome: RevocationOutcome) { state.withLock { $0.revocations = outcome } }

  /// Makes `revoke` wait for `finishRevocations`.
  package func holdRevocations() { state.withLock { $0.heldRevocations = [] } }

  package func finishRevocations() {
    let held = state.withLock { state in
      defer { state.heldRevocations = nil }
      return state.heldRevocations ?? []
    }
    held.forEach { $0.resume() }
  }

  /// Sets the result of `expiry`.
  package func tells(expiry: Timestamp?) { state.withLock { $0.expiry = expiry } }

  /// Sets the result of `expiry` for one token.
  package func tells(expiry: Timestamp, of token: Token) { state.withLock { $0.expiries[token] = expiry } }

  /// Sets the result of `time`; nil if there is none.
  package func tells(time: Timestamp?) { state.withLock { $0.time = time } }

  /// Sets the result of `origin`.
  package func isAt(_ origin: Origin?) { state.withLock { $0.origin = origin } }

  /// Sets the result of `origins`.
  package func hasEndpoints(at origins: Set<Origin>?) { state.withLock { $0.origins = origins } }

  /// Sets the result of `identify`, and what happens during the call.
  package func identifies(as subject: Subject?, whenAsked: @escaping @Sendable () -> Void = {}) {
    state.withLock { ($0.subject, $0.whenAsked) = (subject, whenAsked) }
  }

  /// Answers the request that has waited longest, or the next one that arrives.
  package func answer(_ answer: Answer) {
    let waiting: CheckedContinuation<Answer, Never>? = state.withLock { state in
      if state.waiting.isEmpty {
        state.answers.append(answer)
        return nil
      }
      return state.waiting.removeFirst()
    }
    waiting?.resume(returning: answer)
  }

  /// Waits until this many requests have arrived in total.
  package func waitForRequests(_ count: Int) async {
    let (stream, continuation) = AsyncStream<Int>.makeStream()
    state.withLock { state in
      state.watchers.append(continuation)
      continuation.yield(state.arrived.count)
    }
    for await arrived in stream where arrived >= count { return }
  }

  package var requests: [Credential] { state.withLock(\.arrived) }
  package var mostInFlight: Int { state.withLock(\.mostInFlight) }
  package var revoked: [Credential] { state.withLock(\.revoked) }
}
