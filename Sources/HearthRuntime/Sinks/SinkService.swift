import HearthControl
package import HearthCore
package import Logging

/// Maintains the token files of all sinks. Each sink has a `SinkMachine`, which decides what to do.
///
/// Inputs are handled in order. File operations run concurrently.
package actor SinkService: PlanningService {
  private struct Sink {
    /// The settings, or `nil` if an earlier run left the file and it only has to be removed.
    var settings: SinkSettings?
    var machine: SinkMachine
    let files: any SinkFiles
  }

  private struct Waiting {
    /// The account to wait for, or `nil` for all accounts.
    let account: AccountName?
    let continuation: CheckedContinuation<Void, Never>
    /// Whether all earlier inputs have been handled.
    var isDue = false
  }

  private let sessions: SessionDirectory
  private let record: any SinkRecord
  private let makeFiles: @Sendable (SinkTarget, [SinkMark]) -> any SinkFiles
  let clock: any Clock
  private let logger: Logger
  private var sinks: [SinkTarget: Sink] = [:]
  /// The accounts whose sessions are no longer hydrating, so that it is known whether there is a token.
  private var decided: Set<AccountName> = []
  /// The targets that Hearth has written or may have written, with the marks that identify its files.
  private var claims: [SinkTarget: [SinkMark]] = [:]
  /// The places of the files that sinks have written or are about to write.
  private var places: [SinkTarget: SinkPlace] = [:]
  /// Serializes writes of the record.
  private let recording = AsyncMutex()
  private var idleWaiters: [Int: Waiting] = [:]
  private var waiterCount = 0
  private var isStopped = false
  private var hasEnded = false

  private let inputs = WorkInbox()
  let work = WorkInbox()
  var time: ServiceTime

  /// Creates the service. `makeFiles` creates a separate `SinkFiles` for each sink, so that a hanging file system does
  /// not delay other sinks. Its second argument contains the marks of files that an earlier run may have left.
  package init(
    sessions: SessionDirectory, record: any SinkRecord, clock: any Clock, logger: Logger,
    makeFiles: @escaping @Sendable (SinkTarget, [SinkMark]) -> any SinkFiles
  ) {
    self.sessions = sessions
    self.record = record
    self.makeFiles = makeFiles
    self.clock = clock
    self.logger = logger
    time = ServiceTime(stepped: clock.moment().stepped)
  }

  /// Maintains the files until `stop` is called. All tasks are children of this call.
  package func run() async {
    do {
      claims = try await record.recall()
    } catch {
      logger.warning("Cannot read the list of token files from the last run: \(AccessFailure(error).detail).")
    }
    let handleInputs: WorkInbox.Work = { [inputs, work] in
      await inputs.runInOrder()
      work.finish()
    }
    await work.run(beside: [handleInputs, { await self.followClock() }])
    hasEnded = true
    idleWaiters.values.forEach { $0.continuation.resume() }
    idleWaiters = [:]
  }

  /// Removes or empties all files and ends `run`. Files for which this fails are removed or rewritten after the next
  /// start.
  package func stop() async {
    inputs.add { await self.retireAll() }
    await waitUntilIdle()
    inputs.finish()
  }

  private func retireAll() {
    isStopped = true
    for target in sinks.keys { handle(.retired, target) }
  }

  // MARK: - Inputs and checks

  /// Replaces the set of files to maintain.
  package nonisolated func configure(_ settings: [SinkSettings]) {
    inputs.add { await self.apply(settings) }
  }

  private func apply(_ settings: [SinkSettings]) {
    guard !isStopped else { return }
    let wanted = Dictionary(settings.map { ($0.target, $0) }) { first, _ in first }
    for target in Set(claims.keys).union(sinks.keys) where wanted[target] == nil {
      begin(target, nil)
      handle(.retired, target)
    }
    for (target, settings) in wanted {
      begin(target, settings)
      handle(.configured(offer(for: settings)), target)
    }
  }

  private func begin(_ target: SinkTarget, _ settings: SinkSettings?) {
    if sinks[target] == nil {
      sinks[target] = Sink(
        settings: settings, machine: SinkMachine(at: catchUp()), files: makeFiles(target, claims[target] ?? []))
    } else if let settings {
      sinks[target]?.settings = settings
    }
  }

  /// Handles the published status of a session.
  package nonisolated func sessionChanged(_ account: AccountName, _ state: SessionState) {
    inputs.add { await self.update(account, state) }
  }

  private func update(_ account: AccountName, _ state: SessionState) {
    if state == .hydrating { decided.remove(account) } else { decided.insert(account) }
    for (target, sink) in sinks {
      if let settings = sink.settings, settings.account == account { handle(.given(offer(for: settings)), target) }
    }
  }

  /// Returns the session's current offer. It may be newer than the session's published status.
  private func offer(for sink: SinkSettings) -> SinkMachine.Offer {
    guard decided.contains(sink.account) else { return .undecided }
    return sessions.heldToken(of: sink.account).flatMap { SinkContent($0, for: sink) }.map { .content($0) } ?? .nothing
  }

  /// Waits until the files of one account, or of all accounts, reflect all earlier inputs or could not be written.
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

  /// Returns the state of the account's sinks, for `doctor`.
  package func checks(of account: AccountName) -> [Diagnosis] {
    sinks.sorted { $0.key.path < $1.key.path }.filter { $0.value.settings?.account == account }.map { target, sink in
      let path = target.path
      return if let failure = sink.machine.failure {
        Diagnosis(.sink, .problem, failure.message(at: path), path: path)
      } else if let fingerprint = sink.machine.fingerprint {
        Diagnosis(.sink, .ok, "\(path) contains token \(fingerprint).", path: path)
      } else if sink.settings?.bearer == .idToken, sessions.heldToken(of: account) != nil {
        Diagnosis(
          .sink, .problem,
          "\(path) is missing, because \(account) has no valid ID token. Run \"hearthctl refresh \(account)\". If that "
            + "does not help, add \"openid\" to the account's scopes and sign in again.",
          path: path)
      } else {
        Diagnosis(.sink, .ok, "Hearth will write \(path) as soon as there is a token.", path: path)
      }
    }
  }

  // MARK: - Carrying out actions

  private func handle(_ input: SinkMachine.Input, _ target: SinkTarget) {
    let now = catchUp()
    guard let actions = sinks[target]?.machine.handle(input, at: now), let sink = sinks[target] else { return }
    for action in actions {
      switch action {
      case .put(let content):
        // Pass the current settings, because the path may belong to another account by the time the file is written.
        guard let settings = sink.settings else { continue }
        work.add { await self.put(content, settings) }
      case .remove: work.add { await self.remove(target) }
      case .report(let failure): log(.warning, failure.message(at: target.path), sink)
      case .recovered: log(.notice, "The problem with \(target.path) is solved.", sink)
      }
    }
    if sink.machine.isOver { (sinks[target], places[target]) = (nil, nil) }
    if !isStopped { arm(sinks.values.compactMap { $0.machine.nextWake(after: clock.now()) }.min()) }
    resumeIdleWaiters()
  }

  private func log(_ level: Logger.Level, _ text: String, _ sink: Sink) {
    let account = sink.settings.map(\.account)
    logger.log(
      level: level, "\(account.map { "Token file for \($0): " } ?? "")\(text)",
      metadata: account.map { ["HEARTH_ACCOUNT": "\($0)"] })
  }

  private func put(_ content: SinkContent, _ settings: SinkSettings) async {
    let target = settings.target
    let result = await Result { () async throws(SinkFailure) in
      guard let sink = sinks[target] else { return }
      let place = try await sink.files.place(of: target.path)
      if let other = owner(of: place, besides: target) { throw .shared(other) }
      places[target] = place
      if claims[target] == nil { try await sink.files.requireFree(for: settings) }
      let mark = try await sink.files.begin(at: settings)
      // Record the file before the token is written, so that Hearth can remove the file after a crash.
      try await claim(target, mark)
      do throws(SinkFailure) {
        try await sink.files.put(content.bytes(for: settings), at: settings)
        claims[target] = [mark]
      } catch {
        // Keep the claim after a timeout, because the operation may still take effect.
        if case .unanswered = error {} else if !settings.isInPlace { claims[target]?.removeAll { $0 == mark } }
        throw error
      }
    }
    handle(.put(result), target)
  }

  private func remove(_ target: SinkTarget) async {
    let result = await Result { () async throws(SinkFailure) in
      // Do not remove a file at a path that Hearth has never written to.
      guard let sink = sinks[target], claims[target] != nil else { return }
      // Keep a file that may be bind-mounted, because the mount would not show a new file at the same path.
      let isKept = sink.settings?.isInPlace == true
      if !(await isAnothers(target, sink.files)) { try await sink.files.remove(target.path, keepingFile: isKept) }
      places[target] = nil
      await disclaim(target)
    }
    handle(.removed(result), target)
  }

  /// Returns the path of another sink with a file at this place, or `nil` if there is none.
  private func owner(of place: SinkPlace, besides target: SinkTarget) -> String? {
    places.first { $0.value == place && $0.key != target }?.key.path
  }

  /// Returns whether the file at this path belongs to another sink that is still in use.
  private func isAnothers(_ target: SinkTarget, _ files: any SinkFiles) async -> Bool {
    // If the folder cannot be accessed, removing the file will report the reason.
    guard let place = try? await files.place(of: target.path) else { return false }
    return owner(of: place, besides: target) != nil
  }

  private func claim(_ target: SinkTarget, _ mark: SinkMark) async throws(SinkFailure) {
    do {
      try await recording.withLock {
        var claims = claims
        claims[target, default: []] = (claims[target] ?? []).filter { $0 != mark } + [mark]
        try await record.keep(claims)
        self.claims[target] = claims[target]
      }
    } catch {
      throw .unrecorded(AccessFailure(error).detail)
    }
  }

  /// Removes the claim on a target. If the record cannot be written, the claim is harmless, because the file no longer
  /// contains this sink's token.
  private func disclaim(_ target: SinkTarget) async {
    await recording.withLock {
      claims[target] = nil
      try? await record.keep(claims)
    }
  }

  // MARK: - Time

  func woke() {
    for target in sinks.keys { handle(.woke, target) }
  }

  func clockStepped(by step: Duration, at _: Timestamp) {
    for target in sinks.keys { sinks[target]?.machine.move(by: step) }
  }
}

extension SinkContent {
  /// Creates the content from a session's token. Returns `nil` if the grant does not contain the kind of token that the
  /// sink needs.
  fileprivate init?(_ held: (bearer: Bearer, grant: Grant), for sink: SinkSettings) {
    let wanted: Token? =
      switch sink.bearer {
      case .accessToken: held.grant.accessToken
      case .idToken: held.grant.idToken
      case nil: held.bearer.token
      }
    guard let wanted else { return nil }
    // `held` contains only the expiry of the token for APIs. For another token, prefer the expiry in that token.
    let bearer =
      wanted == held.bearer.token
      ? held.bearer : held.bearer.with(wanted, expiresAt: wanted.expiresAt ?? held.bearer.expiresAt)
    self.init(bearer)
  }

  fileprivate func bytes(for sink: SinkSettings) -> [UInt8] {
    let text =
      switch sink.format {
      case .token, .netrc: bearer.token.secret.reveal()
      case .header: "Authorization: \(bearer.type) \(bearer.token.secret.reveal())\n"
      case .json: "\(bearer.json)\n"
      }
    return Array(text.utf8)
  }
}
