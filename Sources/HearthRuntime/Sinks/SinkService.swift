import HearthControl
package import HearthCore
package import Logging

/// Keeps the token files of all sinks as `SinkMachine` decides.
///
/// Inputs are handled in order; steps on files run concurrently.
package actor SinkService: PlanningService, RunningService {
  private struct Sink {
    /// The settings, or `nil` if the file is from an earlier run and only has to be removed.
    var settings: SinkSettings?
    var machine: SinkMachine
    let files: any SinkFiles
  }

  private struct Waiting {
    /// The account, or `nil` for a wait for all accounts.
    let account: AccountName?
    let continuation: CheckedContinuation<Void, Never>
    /// Whether all earlier inputs have been handled.
    var isDue = false
  }

  private let sessions: SessionDirectory
  private let record: any SinkRecord
  private let makeFiles: @Sendable ([SinkMark]) -> any SinkFiles
  let clock: any Clock
  private let logger: Logger
  /// The sinks by path.
  private var sinks: [String: Sink] = [:]
  /// The accounts whose session knows whether it has a token.
  private var decided: Set<AccountName> = []
  /// The paths where Hearth has or may have files, with the marks that those files may have.
  private var claims: [String: [SinkMark]] = [:]
  /// The places of files that sinks have written or are about to write, by path.
  private var places: [String: SinkPlace] = [:]
  /// Held while the record is written.
  private let recording = AsyncMutex()
  /// The tasks that wait until nothing is in progress.
  private var idleWaiters: [Int: Waiting] = [:]
  private var waiterCount = 0
  private var isStopped = false
  private var hasEnded = false

  private let inputs = WorkInbox()
  let work = WorkInbox()
  var time: ServiceTime

  /// `makeFiles` makes the file access of each sink, so that a hanging file system delays no other sink. It receives
  /// the marks that an earlier run may have left.
  package init(
    sessions: SessionDirectory, record: any SinkRecord, clock: any Clock, logger: Logger,
    makeFiles: @escaping @Sendable ([SinkMark]) -> any SinkFiles
  ) {
    self.sessions = sessions
    self.record = record
    self.makeFiles = makeFiles
    self.clock = clock
    self.logger = logger
    time = ServiceTime(stepped: clock.moment().stepped)
  }

  /// Removes files that earlier runs left and nothing needs, and runs until `stop`. All tasks are children of this
  /// call.
  package func run() async {
    await recall()
    let handleInputs: WorkInbox.Work = { [inputs, work] in
      await inputs.runInOrder()
      work.finish()
    }
    await work.run(beside: [handleInputs, { await self.followClock() }])
    hasEnded = true
    idleWaiters.values.forEach { $0.continuation.resume() }
    idleWaiters = [:]
  }

  /// Removes every file and ends `run`. A file that cannot be removed within the file system's deadline is removed at
  /// the next start.
  package func stop() async {
    inputs.add { await self.retireAll() }
    await waitUntilIdle()
    inputs.finish()
  }

  private func retireAll() {
    isStopped = true
    for path in sinks.keys { handle(.retired, path) }
  }

  private func recall() async {
    do throws(AccessFailure) {
      claims = try await record.recall()
    } catch {
      logger.warning("The record of token files from the last run cannot be read: \(error.detail).")
    }
  }

  // MARK: - Inputs and questions

  /// Keeps these files from now on, and no others.
  package nonisolated func configure(_ settings: [SinkSettings]) {
    inputs.add { await self.apply(settings) }
  }

  private func apply(_ settings: [SinkSettings]) {
    guard !isStopped else { return }
    let wanted = Dictionary(settings.map { ($0.path, $0) }) { first, _ in first }
    for path in Set(claims.keys).union(sinks.keys) where wanted[path] == nil {
      begin(path, nil)
      handle(.retired, path)
    }
    for (path, settings) in wanted {
      begin(path, settings)
      handle(.configured(offer(for: settings)), path)
    }
  }

  private func begin(_ path: String, _ settings: SinkSettings?) {
    if sinks[path] == nil {
      sinks[path] = Sink(settings: settings, machine: SinkMachine(at: catchUp()), files: makeFiles(claims[path] ?? []))
    } else if let settings {
      sinks[path]?.settings = settings
    }
  }

  /// Follows the published status of a session.
  package nonisolated func sessionChanged(_ account: AccountName, _ state: SessionState) {
    inputs.add { await self.update(account, state) }
  }

  private func update(_ account: AccountName, _ state: SessionState) {
    if state == .hydrating { decided.remove(account) } else { decided.insert(account) }
    for (path, sink) in sinks {
      if let settings = sink.settings, settings.account == account { handle(.given(offer(for: settings)), path) }
    }
  }

  /// What the session gives out now, which may be newer than what it has published.
  private func offer(for sink: SinkSettings) -> SinkMachine.Offer {
    guard decided.contains(sink.account) else { return .undecided }
    return sessions.heldToken(of: sink.account).flatMap { SinkContent($0, for: sink) }.map { .content($0) } ?? .nothing
  }

  /// Returns once the files of the account, or of all, are up to date with all earlier inputs, or have failed.
  package func waitUntilIdle(_ account: AccountName? = nil) async {
    guard !hasEnded else { return }
    waiterCount += 1
    let id = waiterCount
    await withCheckedContinuation { continuation in
      idleWaiters[id] = Waiting(account: account, continuation: continuation)
      inputs.add { await self.waitsFromNow(id) }
    }
  }

  private func waitsFromNow(_ id: Int) {
    idleWaiters[id]?.isDue = true
    resumeIdleWaiters()
  }

  private func resumeIdleWaiters() {
    for (id, waiting) in idleWaiters where waiting.isDue {
      let isIdle = sinks.values.allSatisfy { sink in
        sink.machine.isIdle || waiting.account != nil && sink.settings?.account != waiting.account
      }
      if isIdle { idleWaiters.removeValue(forKey: id)?.continuation.resume() }
    }
  }

  /// The state of the account's sinks, for `doctor`.
  package func checks(of account: AccountName) -> [Diagnosis] {
    sinks.sorted { $0.key < $1.key }.filter { $0.value.settings?.account == account }.map { path, sink in
      if let failure = sink.machine.failure {
        Diagnosis(.sink, .problem, failure.message(at: path), path: path)
      } else if let fingerprint = sink.machine.fingerprint {
        Diagnosis(.sink, .ok, "\(path) holds the token \(fingerprint).", path: path)
      } else if sink.settings?.bearer == .idToken, sessions.heldToken(of: account) != nil {
        Diagnosis(
          .sink, .problem,
          "\(path) is missing, because \(account) has no ID token that is still valid: run \"hearthctl refresh "
            + "\(account)\". If that does not help, add \"openid\" to the account's scopes and sign in again.",
          path: path)
      } else {
        Diagnosis(.sink, .ok, "\(path) is written as soon as there is a token.", path: path)
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
        // Use the current settings: by the time of the write, the path may belong to another account.
        guard let settings = sink.settings else { continue }
        work.add { await self.put(content, settings) }
      case .remove: work.add { await self.remove(path) }
      case .report(let failure): log(.warning, failure.message(at: path), sink)
      case .recovered: log(.notice, "\(path) is up to date again.", sink)
      }
    }
    if sink.machine.isOver { (sinks[path], places[path]) = (nil, nil) }
    if !isStopped { arm(sinks.values.compactMap { $0.machine.nextWake(after: clock.now()) }.min()) }
    resumeIdleWaiters()
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
      if claims[path] == nil { try await sink.files.requireFree(for: settings) }
      let mark = try await sink.files.begin(at: settings)
      // Record the file before it exists, so that it is known after a crash.
      try await claim(path, mark)
      do throws(SinkFailure) {
        try await sink.files.put(content.bytes(for: settings), at: settings)
        claims[path] = [mark]
      } catch {
        // A step that was not answered in time may still be carried out.
        if case .unanswered = error {} else if !settings.isInPlace { claims[path]?.removeAll { $0 == mark } }
        throw error
      }
    }
    handle(.put(result), path)
  }

  private func remove(_ path: String) async {
    let result = await Result { () async throws(SinkFailure) in
      // A file at a path that Hearth never wrote to is not Hearth's.
      guard let sink = sinks[path], claims[path] != nil else { return }
      // A bind mount follows the file only as long as it is there.
      let isKept = sink.settings?.isInPlace == true
      if !(await isAnothers(path, sink.files)) { try await sink.files.remove(path, keepingFile: isKept) }
      places[path] = nil
      await disclaim(path)
    }
    handle(.removed(result), path)
  }

  /// The path of another sink whose file is at this place.
  private func owner(of place: SinkPlace, besides path: String) -> String? {
    places.first { $0.value == place && $0.key != path }?.key
  }

  /// Whether the file at this path belongs to another sink, which still keeps it.
  private func isAnothers(_ path: String, _ files: any SinkFiles) async -> Bool {
    // If the folder cannot be accessed, removing the file reports why.
    guard let place = try? await files.place(of: path) else { return false }
    return owner(of: place, besides: path) != nil
  }

  private func claim(_ path: String, _ mark: SinkMark) async throws(SinkFailure) {
    try await recording.withLock { () async throws(SinkFailure) in
      do throws(AccessFailure) {
        var claims = claims
        claims[path, default: []] = (claims[path] ?? []).filter { $0 != mark } + [mark]
        try await record.keep(claims)
        self.claims[path] = claims[path]
      } catch {
        throw .unrecorded(error.detail)
      }
    }
  }

  /// Removes the claim on a path. A claim too many does no harm, because there is no file.
  private func disclaim(_ path: String) async {
    await recording.withLock {
      claims[path] = nil
      try? await record.keep(claims)
    }
  }

  // MARK: - Time

  func woke() {
    for path in sinks.keys { handle(.woke, path) }
  }

  func clockStepped(by step: Duration, at _: Timestamp) {
    for path in sinks.keys { sinks[path]?.machine.move(by: step) }
  }
}

extension SinkContent {
  /// The token for the sink, or `nil` if the grant has none of that kind.
  fileprivate init?(_ ready: ReadyToken, for sink: SinkSettings) {
    let wanted: Token? =
      switch sink.bearer {
      case .accessToken: ready.accessToken
      case .idToken: ready.idToken
      case nil: ready.bearer.token
      }
    guard let wanted else { return nil }
    // The session knows only when the token for APIs expires.
    let bearer =
      wanted == ready.bearer.token
      ? ready.bearer : ready.bearer.with(wanted, expiresAt: wanted.expiresAt ?? ready.bearer.expiresAt)
    self.init(bearer, issuer: ready.issuer)
  }

  /// The content of the file.
  fileprivate func bytes(for sink: SinkSettings) -> [UInt8] {
    let text =
      switch sink.format {
      case .token: bearer.token.secret.reveal()
      case .header: "Authorization: \(bearer.type) \(bearer.token.secret.reveal())\n"
      case .json: "\(GivenToken(sink.account, bearer, issuer: issuer).json)\n"
      }
    return Array(text.utf8)
  }
}
