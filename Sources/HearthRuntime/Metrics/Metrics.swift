import HearthControl
package import HearthCore
package import Logging
import Synchronization

/// Counts calls on the socket, requests, and the events of sessions and the outbox. Current values, such as token
/// lifetimes, are read from the event hub for each report.
///
/// Labels have few values and never contain a subject, an address, a lane or a token.
package final class Metrics: Sendable {
  /// The parts of a session's last published status that the metrics depend on.
  private struct Followed {
    var lastOutcome: RefreshHistory.Outcome?
    /// The reason and time of the session's end, or `nil` if the session has not ended.
    var end: (reason: String, at: Timestamp)?
  }

  private let store: any MetricsStore
  private let clock: any Clock
  private let logger: Logger
  private let elapsed: @Sendable () -> Duration
  private let registry = MetricRegistry()
  private let sessions = Mutex<[AccountName: Followed]>([:])
  /// The cells of the methods that have been called, cached to avoid a lookup by labels for each call.
  private let calls = Mutex<[String: (successes: MetricCell, duration: MetricCell)]>([:])
  private let tokensGiven = Mutex<[AccountName: MetricCell]>([:])
  /// Yields a value when a count that survives restarts has changed.
  private let changes: AsyncStream<Void>
  private let changed: AsyncStream<Void>.Continuation

  /// `elapsed` returns the time since a fixed point on a monotonic clock.
  package init(
    store: any MetricsStore, clock: any Clock, logger: Logger, elapsed: @escaping @Sendable () -> Duration
  ) {
    self.store = store
    self.clock = clock
    self.logger = logger
    self.elapsed = elapsed
    // Create the gauge now, so that it is reported even before the first connection.
    _ = registry.cell(.connections)
    (changes, changed) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  // MARK: - Restarts

  /// Restores the counts from before the restart. Must be called before anything is counted.
  package func recall() async {
    do {
      for family in try await store.recall() {
        if let name = MetricName(rawValue: family.name), name.isKept { registry.add(family.samples, to: name) }
      }
    } catch {
      logger.warning(
        """
        Cannot read the saved counters, so the counters start at zero and are not saved: \
        \(AccessFailure(error).detail).
        """)
      changed.finish()
    }
  }

  /// Saves the counts that survive restarts after each change, until `stop` is called.
  package func run() async {
    for await _ in changes {
      let families = MetricName.allCases.filter(\.isKept).map { $0.family(registry.samples(of: $0)) }
      do {
        try await store.keep(families)
      } catch {
        logger.warning("Cannot save the counters: \(AccessFailure(error).detail).")
      }
    }
  }

  /// Ends `run` once all changes are saved.
  package func stop() { changed.finish() }

  // MARK: - Sessions

  /// Counts a session's events. `status` is the session's status after them.
  package func update(_ status: SessionStatus, after events: [SessionEvent]) {
    let account = status.account.description
    let before = sessions.withLock { sessions in
      let before = sessions[status.account]
      sessions[status.account] = Followed(lastOutcome: status.history.lastOutcome, end: status.end ?? before?.end)
      if status.state == .authenticated { sessions[status.account]?.end = nil }
      return before
    }
    if before == nil { beginCounting(account) }
    for event in events { count(event, status) }
    if status.history.lastOutcome == .rejected, before?.lastOutcome != .rejected {
      refreshes(.rejected, account).increment()
    }
    if status.state == .authenticated, let end = before?.end {
      registry.cell(.signedOut, ["account": account, "reason": end.reason]).record(status.since - end.at)
      changed.yield()
    }
  }

  /// Creates an account's counters for its session and for programs before anything is counted, so that scrapers notice
  /// the first increase.
  private func beginCounting(_ account: String) {
    for outcome in RefreshHistory.Outcome.allCases { _ = refreshes(outcome, account) }
    for reason in EndReason.allCases where reason != .signedOut { _ = automaticSignOuts(reason, account) }
    for name in [MetricName.unauthorized, .tokensGiven, .staleAnswers] { _ = registry.cell(name, ["account": account]) }
    for answer in Self.answers { _ = registry.cell(.requests, ["account": account, "answer": answer]) }
  }

  private func count(_ event: SessionEvent, _ status: SessionStatus) {
    let account = status.account.description
    switch event {
    case .refreshed: refreshes(.success, account).increment()
    case .refreshFailed: refreshes(status.history.lastOutcome ?? .unavailable, account).increment()
    case .unauthorized: registry.cell(.unauthorized, ["account": account]).increment()
    // The session had already ended, so this change is not another sign-out.
    case .changed(from: .reauthRequired, to: _), .changed(from: .unauthenticated(signedOut: true), to: _): break
    case .changed(_, to: .reauthRequired(let reason)):
      automaticSignOuts(reason, account).increment()
      changed.yield()
    case .changed, .expiring, .signedIn, .signedOut, .credentialUnreadable, .credentialReadable, .credentialSetAside,
      .credentialPendingWrite, .statusChanged:
      break
    }
  }

  private func refreshes(_ outcome: RefreshHistory.Outcome, _ account: String) -> MetricCell {
    registry.cell(.refreshes, ["account": account, "result": outcome.rawValue])
  }

  private func automaticSignOuts(_ reason: EndReason, _ account: String) -> MetricCell {
    registry.cell(.automaticSignOuts, ["account": account, "reason": reason.rawValue])
  }

  // MARK: - Outbox

  package func update(after events: [OutboxEvent]) {
    for event in events {
      guard case .delivered(let item) = event else { continue }
      let account = item.account.description
      registry.cell(.deliveryLatency, ["account": account]).record(clock.now() - item.createdAt)
      registry.cell(.deliveredBytes, ["account": account]).increment(by: item.bytes)
    }
  }

  /// Wraps the outbox's API endpoint to count requests that carry a token.
  package func measuring(_ api: any APIEndpoint) -> any APIEndpoint { MeasuredAPIEndpoint(api: api, metrics: self) }

  /// Counts an outbox request. `status` is `nil` if the API did not answer.
  func attempted(for account: AccountName, status: Int?, since begun: Duration) {
    let account = account.description
    registry.cell(.attempts, ["account": account, "answer": Self.answer(status)]).increment()
    registry.cell(.attemptDuration, ["account": account]).record(elapsed() - begun)
  }

  // MARK: - Programs

  /// The values of the label `answer` that are always reported.
  private static let answers = ["2xx", "3xx", "401", "4xx", "5xx", "none"]

  private static func answer(_ status: Int?) -> String {
    status.map { $0 == 401 ? "401" : "\($0 / 100)xx" } ?? "none"
  }

  /// Counts a program's request. `status` is `nil` if the API did not answer.
  package func requested(for account: AccountName, status: Int?) {
    registry.cell(.requests, ["account": account.description, "answer": Self.answer(status)]).increment()
  }

  func tokenGiven(of account: AccountName) {
    let cell = tokensGiven.withLock { cells in
      if let cell = cells[account] { return cell }
      let cell = registry.cell(.tokensGiven, ["account": account.description])
      cells[account] = cell
      return cell
    }
    cell.increment()
  }

  /// Counts a cached response that was returned instead of an error.
  func staleAnswerGiven(to account: AccountName) {
    registry.cell(.staleAnswers, ["account": account.description]).increment()
  }

  // MARK: - Calls

  /// Returns the start time for a measurement.
  func begin() -> Duration { elapsed() }

  /// Counts a call that was answered, with its error if it failed. `method` is a supported method or `unknownMethod`.
  func called(_ method: String, error: RPCError?, since begun: Duration) {
    let (successes, duration) = calls.withLock { calls in
      if let cells = calls[method] { return cells }
      let cells = (
        successes: registry.cell(.calls, ["method": method, "result": "success"]),
        duration: registry.cell(.callDuration, ["method": method])
      )
      calls[method] = cells
      return cells
    }
    if let error {
      refused(method, error)
    } else {
      successes.increment()
    }
    duration.record(elapsed() - begun)
  }

  /// Counts a call's error without a duration. A call that was refused before it started has no duration.
  func refused(_ method: String, _ error: RPCError) {
    registry.cell(.calls, ["method": method, "result": error.kind?.rawValue ?? "\(error.code)"]).increment()
  }

  /// The label for calls without a known method. Names of unknown methods are not used, because callers choose them
  /// freely. Some errors have no method at all, for example the error for a line that is not a call.
  static let unknownMethod = "unknown"

  func connectionOpened() { registry.cell(.connections).increment() }
  func connectionClosed() { registry.cell(.connections).increment(by: -1) }

  // MARK: - Reports

  /// Returns all metric families. `snapshot` is the state at `now`.
  func families(_ snapshot: EventHub.Snapshot, _ info: DaemonInfo, at now: Timestamp) -> [MetricFamily] {
    MetricName.allCases.map { name in
      name.family(Self.levels(of: name, snapshot, info, at: now) ?? registry.samples(of: name))
    }
  }

  /// Returns the samples of a family that is measured for each report, or `nil` for a family that is counted as events
  /// occur.
  private static func levels(
    of name: MetricName, _ snapshot: EventHub.Snapshot, _ info: DaemonInfo, at now: Timestamp
  ) -> [MetricSample]? {
    func one(_ number: some BinaryInteger, _ labels: [MetricLabel] = []) -> MetricSample {
      MetricSample(labels, .number(Double(number)))
    }
    switch name {
    case .authenticated:
      return snapshot.sessions.map { one($0.state == .authenticated ? 1 : 0, [.account($0.account)]) }
    case .tokenRemaining:
      return snapshot.sessions.compactMap { status in
        status.token?.remaining(at: now).map {
          MetricSample([.account(status.account)], .number(Double($0.wholeMilliseconds) / 1000))
        }
      }
    case .outboxItems:
      return snapshot.outbox.flatMap { account, stats in
        stats.states.map { one($1, [.account(account), MetricLabel("state", $0.rawValue)]) }
      }
    case .outboxBytes: return snapshot.outbox.map { one($0.stats.bytes, [.account($0.account)]) }
    case .subscriptions: return [one(snapshot.subscriptions)]
    case .laggedSubscribers: return [one(snapshot.lagged)]
    case .buildInfo: return [one(1, [MetricLabel("version", info.version)])]
    case .startTime: return [MetricSample([], .number(Double(info.startedAt.milliseconds) / 1000))]
    case .refreshes, .unauthorized, .tokensGiven, .requests, .automaticSignOuts, .signedOut, .deliveryLatency,
      .deliveredBytes, .attempts, .attemptDuration, .staleAnswers, .calls, .callDuration, .connections:
      return nil
    }
  }
}

/// Counts requests that carry a token and measures how long they take. Requests without a token only ask for the
/// server's time and are not counted.
private struct MeasuredAPIEndpoint: APIEndpoint {
  let api: any APIEndpoint
  let metrics: Metrics

  func exchange(
    _ request: APIRequest, of account: AccountName, bearer: Token?, timeout: Duration
  ) async throws(ExchangeFailure) -> APIResponse {
    guard bearer != nil else {
      return try await api.exchange(request, of: account, bearer: bearer, timeout: timeout)
    }
    let begun = metrics.begin()
    do {
      let response = try await api.exchange(request, of: account, bearer: bearer, timeout: timeout)
      metrics.attempted(for: account, status: response.status, since: begun)
      return response
    } catch {
      metrics.attempted(for: account, status: nil, since: begun)
      throw error
    }
  }
}

extension MetricLabel {
  fileprivate static func account(_ account: AccountName) -> MetricLabel {
    MetricLabel("account", account.description)
  }
}

extension SessionStatus {
  /// The reason and time of the session's end, or `nil` if the session has not ended.
  fileprivate var end: (reason: String, at: Timestamp)? {
    switch state {
    case .reauthRequired(let reason): (reason.rawValue, since)
    case .unauthenticated(signedOut: true): (EndReason.signedOut.rawValue, since)
    case .unauthenticated(signedOut: false), .hydrating, .locked, .authenticated: nil
    }
  }
}

extension OutboxStats {
  fileprivate var states: [(OutboxItem.State, Int)] {
    [
      (.pending, pending), (.inFlight, inFlight), (.waiting, waiting), (.held, held), (.delivered, delivered),
      (.dead, dead),
    ]
  }
}
