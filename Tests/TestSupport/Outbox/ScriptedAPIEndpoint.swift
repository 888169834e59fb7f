package import HearthCore
import Synchronization

/// An API that answers by the test's rule, or call by call if the rule has no answer.
package final class ScriptedAPIEndpoint: APIEndpoint {
  package typealias Outcome = Result<APIResponse, ExchangeFailure>
  package typealias Rule = @Sendable (APIRequest, Fingerprint?) -> Outcome?

  /// A request that waits for its answer.
  package struct Call: Sendable {
    package let request: APIRequest
    /// The fingerprint of its token, or nil without one.
    package let fingerprint: Fingerprint?
    fileprivate let id: Int
    fileprivate let endpoint: ScriptedAPIEndpoint

    package func answer(_ outcome: Outcome) { endpoint.finish(id, outcome) }
    package func answer(_ status: Int, retryAfter: Duration? = nil, skew: Duration? = nil) {
      answer(.success(APIResponse(status: status, retryAfter: retryAfter, skew: skew)))
    }
    package func fail(_ failure: ExchangeFailure) { answer(.failure(failure)) }
  }

  private struct State {
    var rule: Rule
    var lastID = 0
    var waiting: [Int: CheckedContinuation<Outcome, Never>] = [:]
    var calls: [Call] = []
    var watchers: [CheckedContinuation<Call, Never>] = []
    var log: [(request: APIRequest, fingerprint: Fingerprint?)] = []
    var mostAtOnce = 0
  }

  private let state: Mutex<State>

  package init(_ rule: @escaping Rule = { _, _ in nil }) {
    state = Mutex(State(rule: rule))
  }

  package func setRule(_ rule: @escaping Rule) {
    state.withLock { $0.rule = rule }
  }

  /// Every request so far, in order of arrival.
  package var log: [(request: APIRequest, fingerprint: Fingerprint?)] { state.withLock(\.log) }

  /// The largest number of requests that waited at the same time.
  package var mostAtOnce: Int { state.withLock(\.mostAtOnce) }

  /// The number of requests that wait now.
  package var waiting: Int { state.withLock(\.waiting.count) }

  package func exchange(
    _ request: APIRequest, of account: AccountName, bearer: Token?, timeout: Duration
  ) async throws(ExchangeFailure) -> APIResponse {
    let rule = state.withLock { state in
      state.log.append((request, bearer?.fingerprint))
      return state.rule
    }
    if let outcome = rule(request, bearer?.fingerprint) { return try outcome.get() }
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    let outcome: Outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled {
          return continuation.resume(returning: .failure(.unanswered(message: "Given up.")))
        }
        let call = Call(request: request, fingerprint: bearer?.fingerprint, id: id, endpoint: self)
        let watcher = state.withLock { state -> CheckedContinuation<Call, Never>? in
          state.waiting[id] = continuation
          state.mostAtOnce = max(state.mostAtOnce, state.waiting.count)
          if state.watchers.isEmpty {
            state.calls.append(call)
            return nil
          }
          return state.watchers.removeFirst()
        }
        watcher?.resume(returning: call)
      }
    } onCancel: {
      finish(id, .failure(.unanswered(message: "Given up.")))
    }
    return try outcome.get()
  }

  /// Waits for the next request that needs an answer, and returns it.
  package func nextCall() async -> Call {
    await withCheckedContinuation { continuation in
      let call = state.withLock { state -> Call? in
        if !state.calls.isEmpty { return state.calls.removeFirst() }
        state.watchers.append(continuation)
        return nil
      }
      if let call { continuation.resume(returning: call) }
    }
  }

  fileprivate func finish(_ id: Int, _ outcome: Outcome) {
    state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(returning: outcome)
  }
}
