package import HearthCore
package import Logging

/// Keeps the files of all sinks as `SinkMachine` decides.
///
/// Inputs are handled in the order in which they come; the steps on the files run side by side.
package actor SinkService {
  private typealias Input = @Sendable (isolated SinkService) -> Void
  private typealias Work = @Sendable () async -> Void

  private struct Sink {
    /// Nil: it is of an earlier run, and only to be removed.
    var settings: SinkSettings?
    var machine: SinkMachine
    let files: any SinkFiles
  }

  private struct Waiting {
    /// Nil: of all.
    let account: AccountName?
    let continuation: CheckedContinuation<Void, Never>
    /// What came before it has been handled.
    var isDue = false
  }

  private let sessions: SessionDirectory
  private let record: any SinkRecord
  private let makeFiles: @Sendable () -> any SinkFiles
  private let clock: any Clock
  private let logger: Logger
  /// By path.
  private var sinks: [String: Sink] = [:]
  /// The accounts whose session knows whether it has a token.
  private var decided: Set<AccountName> = []
  /// The paths at which files of ours lie, or may lie.
  private var claims: Set<String> = []
  /// Where the files lie that sinks have written or are about to, by their paths.
  private var places: [String: SinkPlace] = [:]
  /// Held while the record is written.
  private let recording = AsyncMutex()
  private var stepped: Duration
  /// The wake-ups that tasks are asleep for.
  private var armed: Set<Timestamp> = []
  /// The tasks that wait until nothing is under way.
  private var settling: [Int: Waiting] = [:]
  private var settleCount = 0
  private var isStopped = false
  private var hasEnded = false

  private let inputs: AsyncStream<Input>
  private let inbox: AsyncStream<Input>.Continuation
  private let work: AsyncStream<Work>
  private let workInbox: AsyncStream<Work>.Continuation

  /// `makeFiles`: each sink has files of its own, so that a place that hangs delays no other.
  package init(
    sessions: SessionDirectory, record: any SinkRecord, clock: any Clock, logger: Logger,
    makeFiles: @escaping @Sendable () -> any SinkFiles
  ) {
    self.sessions = sessions
    self.record = record
    self.makeFiles = makeFiles
    self.clock = clock
    self.logger = logger
    stepped = clock.moment().stepped
    (inputs, inbox) = AsyncStream.makeStream()
    (work, workInbox) = AsyncStream.makeStream()
  }

  /// Removes what earlier runs have left and nobody wants, and runs until `stop`. All tasks are children of this call.
  package func run() async {
    await recall()
    await withDiscardingTaskGroup { group in
      group.addTask { [inputs, workInbox] in
        for await input in inputs { await input(self) }
        workInbox.finish()
      }
      group.addTask { [clock] in
        for await _ in clock.steps() { await self.clockChanged() }
      }
      for await work in work { group.addTask { await work() } }
      group.cancelAll()
    }
    hasEnded = true
    settling.values.forEach { $0.continuation.resume() }
    settling = [:]
  }

  /// Removes every file, and ends `run`. What cannot be removed within a file system's deadline is removed at the next
  /// start.
  package func stop() async {
    inbox.yield { service in
      service.isStopped = true
      for path in service.sinks.keys { service.handle(.retired, path) }
    }
    await settle()
    inbox.finish()
  }

  private func recall() async {
    do throws(AccessFailure) {
      claims = try await record.recall()
    } catch {
      logger.warning("Which token files were left by the last run is not known: \(error.detail).")
    }
  }

  // MARK: - What others tell and ask

  /// From now on these files are kept, and no others.
  package nonisolated func configure(_ settings: [SinkSettings]) {
    inbox.yield { $0.apply(settings) }
  }

  private func apply(_ settings: [SinkSettings]) {
    guard !isStopped else { return }
    let wanted = Dictionary(settings.map { ($0.path, $0) }) { first, _ in first }
    for path in claims.union(sinks.keys) where wanted[path] == nil {
      begin(path, nil)
      handle(.retired, path)
    }
    for (path, settings) in wanted {
      begin(path, settings)
      handle(.configured(offer(of: settings.account)), path)
    }
  }

  private func begin(_ path: String, _ settings: SinkSettings?) {
    if sinks[path] == nil {
      sinks[path] = Sink(settings: settings, machine: SinkMachine(at: catchUp()), files: makeFiles())
    } else if let settings {
      sinks[path]?.settings = settings
    }
  }

  /// A session has published its status.
  package nonisolated func sessionChanged(_ account: AccountName, _ state: SessionState) {
    inbox.yield { $0.update(account, state) }
  }

  private func update(_ account: AccountName, _ state: SessionState) {
    if state == .hydrating { decided.remove(account) } else { decided.insert(account) }
    for (path, sink) in sinks where sink.settings?.account == account { handle(.given(offer(of: account)), path) }
  }

  /// What the session gives out now, which may be newer than what it has published.
  private func offer(of account: AccountName) -> SinkMachine.Offer {
    guard decided.contains(account) else { return .undecided }
    return sessions.heldToken(of: account).map { .content(SinkContent($0)) } ?? .nothing
  }

  /// Returns once the files of the account (nil: all) are as everything before has made them, or could not be made so.
  package func settle(_ account: AccountName? = nil) async {
    guard !hasEnded else { return }
    settleCount += 1
    let id = settleCount
    await withCheckedContinuation { continuation in
      settling[id] = Waiting(account: account, continuation: continuation)
      inbox.yield { service in
        service.settling[id]?.isDue = true
        service.settled()
      }
    }
  }

  private func settled() {
    for (id, waiting) in settling where waiting.isDue {
      let isIdle = sinks.values.allSatisfy { sink in
        sink.machine.isIdle || waiting.account != nil && sink.settings?.account != waiting.account
      }
      if isIdle { settling.removeValue(forKey: id)?.continuation.resume() }
    }
  }

  /// How the account's sinks are.
  package func checks(of account: AccountName) -> [Diagnosis] {
    sinks.sorted { $0.key < $1.key }.filter { $0.value.settings?.account == account }.map { path, sink in
      if let failure = sink.machine.failure {
        Diagnosis(.sink, .problem, failure.message(at: path), path: path)
      } else if let fingerprint = sink.machine.fingerprint {
        Diagnosis(.sink, .ok, "\(path) holds the token \(fingerprint).", path: path)
      } else {
        Diagnosis(.sink, .ok, "\(path) is there as soon as there is a token.", path: path)
      }
    }
  }

  // MARK: - What the machines decide

  private func handle(_ input: SinkMachine.Input, _ path: String) {
    let now = catchUp()
    guard let actions = sinks[path]?.machine.handle(input, at: now), let sink = sinks[path] else { return }
    for action in actions {
      switch action {
      case .put(let content):
        // With the settings of now: by the time it is written, the path may be another account's.
        guard let settings = sink.settings else { continue }
        workInbox.yield { await self.put(content, settings) }
      case .remove: workInbox.yield { await self.remove(path) }
      case .report(let failure): log(.warning, failure.message(at: path), sink)
      case .recovered: log(.notice, "\(path) is as it has to be again.", sink)
      }
    }
    if sink.machine.isOver { (sinks[path], places[path]) = (nil, nil) }
    arm()
    settled()
  }

  private func log(_ level: Logger.Level, _ text: String, _ sink: Sink) {
    let account = sink.settings.map(\.account)
    logger.log(
      level: level, "\(account.map { "The token file of \($0): " } ?? "")\(text)",
      metadata: account.map { ["HEARTH_ACCOUNT": "\($0)"] })
  }

  private func put(_ content: SinkContent, _ settings: SinkSettings) async {
    let path = settings.path
    let result = await Result { () async throws(SinkFailure) in
      guard let sink = sinks[path] else { return }
      let place = try await sink.files.place(of: path)
      if let other = owner(of: place, besides: path) { throw .shared(other) }
      places[path] = place
      if !claims.contains(path) {
        try await sink.files.requireFree(path)
        try await claim(path)
      }
      try await sink.files.put(content.bytes(for: settings), at: settings)
    }
    handle(.put(result), path)
  }

  private func remove(_ path: String) async {
    let result = await Result { () async throws(SinkFailure) in
      // What lies at a path that was never written to is not ours.
      guard let sink = sinks[path], claims.contains(path) else { return }
      if !(await isAnothers(path, sink.files)) { try await sink.files.remove(path) }
      places[path] = nil
      await disclaim(path)
    }
    handle(.removed(result), path)
  }

  /// The sink, other than that at `path`, whose file lies there.
  private func owner(of place: SinkPlace, besides path: String) -> String? {
    places.first { $0.value == place && $0.key != path }?.key
  }

  /// The file at this path is that of another sink, which goes on keeping it.
  private func isAnothers(_ path: String, _ files: any SinkFiles) async -> Bool {
    // Where the folder cannot be had, removing tells why.
    guard let place = try? await files.place(of: path) else { return false }
    return owner(of: place, besides: path) != nil
  }

  private func claim(_ path: String) async throws(SinkFailure) {
    try await recording.withLock { () async throws(SinkFailure) in
      do throws(AccessFailure) {
        try await record.keep(claims.union([path]))
        claims.insert(path)
      } catch {
        throw .unrecorded(error.detail)
      }
    }
  }

  /// A claim too many does no harm: nothing lies there.
  private func disclaim(_ path: String) async {
    await recording.withLock {
      claims.remove(path)
      try? await record.keep(claims)
    }
  }

  // MARK: - Time

  private func arm() {
    let now = clock.now()
    guard !isStopped, let wake = sinks.values.compactMap({ $0.machine.nextWake(after: now) }).min(),
      armed.allSatisfy({ wake < $0 })
    else { return }
    armed.insert(wake)
    workInbox.yield { [clock] in
      await clock.sleep(until: wake)
      if !Task.isCancelled { await self.woke(for: wake) }
    }
  }

  private func woke(for wake: Timestamp) {
    armed.remove(wake)
    for path in sinks.keys { handle(.woke, path) }
  }

  private func clockChanged() {
    armed = []
    for path in sinks.keys { handle(.woke, path) }
  }

  /// The time, once the machines know every step of the clock before it.
  private func catchUp() -> Timestamp {
    let moment = clock.moment()
    if moment.stepped != stepped {
      let step = moment.stepped - stepped
      for path in sinks.keys { sinks[path]?.machine.move(by: step) }
      stepped = moment.stepped
      armed = []
    }
    return moment.now
  }
}
