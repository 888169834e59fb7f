package import HearthCore
import Synchronization

/// An API with exchanges that the test controls.
package final class ScriptedExchanges: APIExchangeEndpoint {
  private struct State {
    var begun: [ScriptedExchange] = []
    var waiting: [CheckedContinuation<ScriptedExchange, Never>] = []
  }

  private let clock: any Clock
  private let state = Mutex(State())

  package init(clock: any Clock) { self.clock = clock }

  package func begin(
    _ request: APIRequest, of account: AccountName, bearer: Token
  ) async throws(ExchangeFailure) -> any APIExchange {
    let exchange = ScriptedExchange(request, bearer.fingerprint, clock)
    let watcher = state.withLock { state -> CheckedContinuation<ScriptedExchange, Never>? in
      if state.waiting.isEmpty {
        state.begun.append(exchange)
        return nil
      }
      return state.waiting.removeFirst()
    }
    watcher?.resume(returning: exchange)
    return exchange
  }

  /// Waits for the next exchange that begins, and returns it.
  package func next() async -> ScriptedExchange {
    await withCheckedContinuation { continuation in
      let exchange = state.withLock { state -> ScriptedExchange? in
        if !state.begun.isEmpty { return state.begun.removeFirst() }
        state.waiting.append(continuation)
        return nil
      }
      if let exchange { continuation.resume(returning: exchange) }
    }
  }
}

/// An exchange. It accepts the body as it arrives, unless the test holds it up.
package final class ScriptedExchange: APIExchange {
  private struct State {
    var written: [UInt8] = []
    var isComplete = false
    /// The network accepts nothing.
    var isHeld = false
    /// The API has answered, and accepts no more of the body.
    var isRefused = false
    var response: APIResponse?
    var pieces: [[UInt8]] = []
    var end: Result<Void, ExchangeFailure>?
    var cancelled: String?
    var lastMoved: Timestamp
    /// The number of calls that wait for the test.
    var callers = 0
    var changes = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  package let request: APIRequest
  package let fingerprint: Fingerprint
  private let clock: any Clock
  private let state: Mutex<State>

  init(_ request: APIRequest, _ fingerprint: Fingerprint, _ clock: any Clock) {
    (self.request, self.fingerprint, self.clock) = (request, fingerprint, clock)
    state = Mutex(State(lastMoved: clock.now()))
  }

  package var lastMoved: Timestamp { state.withLock(\.lastMoved) }
  package var written: [UInt8] { state.withLock(\.written) }
  /// Whether the last piece was marked as the last.
  package var isComplete: Bool { state.withLock(\.isComplete) }
  /// Whether a write or a read waits for the network.
  package var isAwaited: Bool { state.withLock { $0.callers > 0 } }
  /// Whether the exchange was cancelled; `cancelled` says why.
  package var isCancelled: Bool { cancelled != nil }
  package var cancelled: String? { state.withLock(\.cancelled) }

  // MARK: - What the test plays

  package func hold(_ isHeld: Bool = true) { change { $0.isHeld = isHeld } }
  package func move() { change { $0.lastMoved = clock.now() } }
  package func answer(_ status: Int, headers: [APIRequest.Header] = []) {
    change { state in
      (state.response, state.isRefused) = (APIResponse(status: status, headers: headers), status >= 300)
    }
  }
  package func bring(_ piece: [UInt8]) { change { $0.pieces.append(piece) } }
  package func finish() { change { $0.end = .success(()) } }
  package func fail(_ failure: ExchangeFailure) { change { $0.end = .failure(failure) } }

  /// Returns when the condition is true.
  package func wait(until isReached: KeyPath<ScriptedExchange, Bool>) async {
    while true {
      let seen = state.withLock(\.changes)
      if self[keyPath: isReached] { return }
      await pause { $0.changes != seen }
    }
  }

  private func change(_ body: (inout State) -> Void) {
    let waiting = state.withLock { state in
      body(&state)
      state.changes += 1
      defer { state.waiting = [] }
      return state.waiting
    }
    for waiter in waiting { waiter.resume() }
  }

  /// Waits for a change, unless the condition is true.
  private func pause(asCaller: Bool = false, unless isReached: (State) -> Bool) async {
    if asCaller { change { $0.callers += 1 } }
    await withCheckedContinuation { waiter in
      let isReached = state.withLock { state in
        if isReached(state) { return true }
        state.waiting.append(waiter)
        return false
      }
      if isReached { waiter.resume() }
    }
    if asCaller { change { $0.callers -= 1 } }
  }

  // MARK: - The exchange

  package func write(_ piece: [UInt8], isLast: Bool) async throws(ExchangeFailure) -> Bool {
    while true {
      let result = state.withLock { state -> Result<Bool, ExchangeFailure>? in
        if let end = state.end { return end.map { false } }
        if state.isRefused { return .success(false) }
        return state.isHeld ? nil : .success(true)
      }
      guard let result else {
        await pause(asCaller: true) { !$0.isHeld || $0.isRefused || $0.end != nil }
        continue
      }
      if case .success(true) = result {
        change { state in
          state.written += piece
          state.isComplete = isLast
          state.lastMoved = clock.now()
        }
      }
      return try result.get()
    }
  }

  package func response() async throws(ExchangeFailure) -> APIResponse {
    while true {
      if let response = state.withLock(\.response) { return response }
      if let end = state.withLock(\.end) {
        try end.get()
        throw .unanswered(message: "It ended without an answer")
      }
      await pause { $0.response != nil || $0.end != nil }
    }
  }

  package func read() async throws(ExchangeFailure) -> [UInt8]? {
    while true {
      let piece = state.withLock { $0.pieces.isEmpty ? nil : $0.pieces.removeFirst() }
      if let piece { return piece }
      if let end = state.withLock(\.end) {
        try end.get()
        return nil
      }
      await pause(asCaller: true) { !$0.pieces.isEmpty || $0.end != nil }
    }
  }

  package func cancel(_ reason: String) {
    change { state in
      if state.end == nil {
        state.cancelled = reason
        state.end = .failure(.unanswered(message: reason))
      }
    }
  }
}
