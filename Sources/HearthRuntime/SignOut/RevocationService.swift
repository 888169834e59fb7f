package import HearthControl
package import HearthCore
package import Logging

/// Revokes the grants of signed-out users and other unused grants. A `RevocationBacklog` decides when to revoke a grant
/// that cannot be revoked immediately.
package actor RevocationService: PlanningService {
  private let sessions: SessionDirectory
  private let store: any RevocationStore
  let clock: any Clock
  private let logger: Logger
  private var backlog = RevocationBacklog()
  /// The users that the sessions have reported: `nil` if no one is signed in, `.some(nil)` if the user is unknown.
  private var users: [AccountName: Subject??] = [:]
  /// The grants whose revocation is in progress, with their accounts.
  private var underWay: [String: (account: AccountName, credential: Credential)] = [:]
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var isStopped = false
  let work = WorkInbox()
  var time: ServiceTime

  package init(sessions: SessionDirectory, store: any RevocationStore, clock: any Clock, logger: Logger) {
    self.sessions = sessions
    self.store = store
    self.clock = clock
    self.logger = logger
    time = ServiceTime(stepped: clock.moment().stepped)
  }

  /// Loads the grants that must still be revoked. Runs until `stop` is called. All tasks are children of this call.
  package func run() async {
    let recalled = await store.recall(at: catchUp())
    let now = catchUp()
    perform(backlog.recall(recalled, at: now))
    await work.run(beside: [{ await self.followClock() }])
  }

  /// Ends `run`. Remaining grants are retried after the next start.
  package func stop() {
    isStopped = true
    work.finish()
  }

  /// Asks the provider, concurrently and within five seconds, to revoke the credentials. Keeps each credential
  /// (`PendingRevocation.Keeping`) until the provider has answered. If the provider is unreachable, retries later.
  ///
  /// If `credentials` is empty and earlier revocations of the account are pending, retries all pending revocations. If
  /// `isComplete` is false, another credential follows once it can be read.
  package func revoke(
    _ credentials: [Credential], of entry: SessionDirectory.Entry, isComplete: Bool = true
  ) async -> SignedOut.Revocation {
    if credentials.isEmpty, backlog.holdsAny(of: entry.service.account) {
      networkReturned()
      return .later
    }
    let outcomes = await withTaskGroup(of: RevocationOutcome.self) { group in
      for credential in credentials { group.addTask { await self.revokeAtOnce(credential, of: entry) } }
      var outcomes: [RevocationOutcome] = []
      for await outcome in group { outcomes.append(outcome) }
      return outcomes
    }
    if !isComplete || outcomes.contains(where: { if case .unavailable = $0 { true } else { false } }) { return .later }
    return !outcomes.isEmpty && outcomes.allSatisfy { $0 == .revoked } ? .done : .none
  }

  private func revokeAtOnce(_ credential: Credential, of entry: SessionDirectory.Entry) async -> RevocationOutcome {
    let account = entry.service.account
    let pending = await keep(credential, of: account, entry.revocations)
    // The provider might also revoke the user's other grants. Later sign-ins therefore wait for the provider's answer.
    // If the user may already be signed in or signing in again, do not ask the provider now.
    let outcome: RevocationOutcome = await asking(pending) {
      if !entry.revokesOneGrant, await entry.service.mayShareUser(with: credential, of: account) {
        return .unavailable(retryAfter: nil)
      }
      return await entry.service.revoke(credential)
    }
    if case .unavailable(let retryAfter) = outcome {
      let now = catchUp()
      perform(backlog.failed(pending, retryAfter: retryAfter, share: .random(in: 0..<1), at: now))
    } else {
      await store.remove(pending)
    }
    return outcome
  }

  private func asking<Outcome: Sendable>(
    _ pending: PendingRevocation, _ ask: () async -> Outcome
  ) async -> Outcome {
    underWay[pending.id] = (pending.account, pending.credential)
    let outcome = await ask()
    underWay[pending.id] = nil
    waiting.resumeAll()
    return outcome
  }

  /// Waits while a provider is asked to revoke a grant of this session's user, because the provider might also revoke
  /// newer grants.
  package func waitUntilIdle(for service: SessionService) async {
    while await isConcerned(service) {
      guard !underWay.isEmpty else { return }
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  private func isConcerned(_ service: SessionService) async -> Bool {
    for (account, credential) in underWay.values where await service.mayShareUser(with: credential, of: account) {
      return true
    }
    return false
  }

  /// Accepts an unused grant and revokes it. If this could also revoke other grants, first waits until the user is no
  /// longer signed in.
  package func leave(_ credential: Credential, of account: AccountName, _ keeping: PendingRevocation.Keeping) async {
    let pending = await keep(credential, of: account, keeping)
    let now = catchUp()
    perform(backlog.add(pending, at: now))
  }

  private func keep(
    _ credential: Credential, of account: AccountName, _ keeping: PendingRevocation.Keeping
  ) async -> PendingRevocation {
    let pending = PendingRevocation(
      of: credential, account, id: String(UInt128.random(in: .min ... .max), radix: 36), keeping: keeping,
      at: catchUp())
    if pending.keeping != .memory {
      do {
        try await store.keep(pending)
      } catch {
        log(
          .warning, pending,
          "cannot be saved (\(AccessFailure(error).detail)), so Hearth tries to revoke it only until the daemon stops")
      }
    }
    return pending
  }

  package func networkReturned() {
    let now = catchUp()
    perform(backlog.networkReturned(at: now))
  }

  package func sessionChanged(_ account: AccountName, _ state: SessionState, _ subject: Subject?) {
    let user: Subject??
    switch state {
    case .hydrating, .locked, .authenticated: user = .some(subject)
    case .unauthenticated, .reauthRequired: user = nil
    }
    if let known = users[account], known == user { return }
    users.updateValue(user, forKey: account)
    let now = catchUp()
    perform(backlog.usersChanged(at: now))
  }

  // MARK: - Carrying out actions

  private func perform(_ actions: [RevocationBacklog.Action]) {
    for action in actions {
      switch action {
      case .ask(let pending): work.add { await self.ask(pending) }
      case .remove(let pending, let outcome):
        tell(outcome, of: pending)
        work.add { [store] in await store.remove(pending) }
      }
    }
    if !isStopped { arm(backlog.nextWake) }
  }

  private func ask(_ pending: PendingRevocation) async {
    // Only the account's configuration says how to authenticate to the provider. If the account is missing, keep the
    // revocation for later, because the account may be configured again.
    let entry = await sessions[pending.account]
    let outcome: RevocationOutcome? = await asking(pending) {
      guard let entry else { return nil }
      if !entry.revokesOneGrant, await isUserSignedIn(pending) { return nil }
      return await entry.service.revoke(pending.credential)
    }
    guard let entry, let outcome else {
      let now = catchUp()
      return perform(backlog.held(pending.id, share: .random(in: 0..<1), at: now))
    }
    var providerTime: Timestamp?
    if case .unavailable = outcome, pending.expiresAt <= catchUp() {
      providerTime = await entry.service.providerTime()
    }
    let now = catchUp()
    perform(
      backlog.ended(pending.id, outcome, providerTime: providerTime, share: .random(in: 0..<1), at: now))
  }

  /// Asks the sessions of all accounts, because the status they last published may be outdated.
  private func isUserSignedIn(_ pending: PendingRevocation) async -> Bool {
    for account in await sessions.accounts {
      guard let service = await sessions[account]?.service else { continue }
      if await service.mayShareUser(with: pending.credential, of: pending.account) { return true }
    }
    return false
  }

  private func tell(_ outcome: RevocationOutcome, of pending: PendingRevocation) {
    switch outcome {
    case .revoked: log(.notice, pending, "has been revoked")
    case .refused(let message): log(.warning, pending, "was not revoked: \(message.withoutStop)")
    case .unavailable:
      log(
        .warning, pending,
        "could not be revoked in time. To be safe, revoke this client's access at the provider")
    }
  }

  private func log(_ level: Logger.Level, _ pending: PendingRevocation, _ text: String) {
    let token = pending.credential.grant.accessToken.fingerprint
    logger.log(
      level: level, "\(pending.account)'s unused grant \(token) \(text).",
      metadata: ["HEARTH_ACCOUNT": "\(pending.account)"])
  }

  // MARK: - Time

  func woke() {
    let now = catchUp()
    perform(backlog.woke(at: now))
  }

  func clockStepped(by step: Duration, at _: Timestamp) { backlog.move(by: step) }
}
