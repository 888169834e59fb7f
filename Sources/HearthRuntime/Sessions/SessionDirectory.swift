package import HearthCore
internal import Synchronization

/// All sessions, by account: starts and stops their services as the configuration says, and is where the tokens for
/// sending come from.
package actor SessionDirectory: BearerTokenProvider, RunningService {
  package struct Entry: Sendable {
    package let service: SessionService
    package var signIn: any SignInEndpoint
    /// It is nil if there is nothing to be tried.
    package var probe: (any AccountProbe)?
    package var offer: TokenOffer
    /// How a grant is kept that is still to be revoked.
    package var revocations: PendingRevocation.Keeping
    /// The provider ends no other grant of the user with the one that is revoked.
    package var revokesOneGrant: Bool

    package init(
      service: SessionService, signIn: any SignInEndpoint, probe: (any AccountProbe)? = nil,
      offer: TokenOffer = TokenOffer(), revocations: PendingRevocation.Keeping = .memory,
      revokesOneGrant: Bool = false
    ) {
      (self.service, self.signIn, self.probe) = (service, signIn, probe)
      (self.offer, self.revocations, self.revokesOneGrant) = (offer, revocations, revokesOneGrant)
    }
  }

  /// A token that is sent at once need not last longer than it takes to arrive.
  private static let validityToSend: Duration = .seconds(2)

  private let table = Mutex<[AccountName: Entry]>([:])
  private var entries: [AccountName: Entry] { table.withLock(\.self) }
  private var isStopped = false
  /// The locks that the system has set.
  private var locks: Set<Lock> = []
  /// The sessions of accounts that are no longer configured: they let their refreshes land.
  private var leaving: [SessionService] = []
  private let services = WorkInbox()

  package init() {}

  /// Runs every service that is added, until `stop`.
  package func run() async { await services.run() }

  /// Each session waits for a request that was sent, until `timeout`. If that is nil, it is as long as one may take,
  /// and 5 s.
  package func stop(timeout: Duration? = nil) async {
    isStopped = true
    await withDiscardingTaskGroup { group in
      for service in entries.values.map(\.service) + leaving {
        group.addTask { await service.stop(timeout: timeout) }
      }
    }
    services.finish()
  }

  /// Begins the account's session. One that it had before, when it was configured earlier, is done with the store first.
  package func add(_ entry: Entry) async {
    let account = entry.service.account
    // Once everything stops, nothing would run it.
    guard !isStopped else { return }
    let before = leaving.filter { $0.account == account }
    table.withLock { $0[account] = entry }
    await tellLocks(to: entry)
    services.add {
      await entry.service.run { for service in before { await service.stop() } }
    }
  }

  /// The account is no longer configured. Its refresh may still land; nobody waits for that, or hears of it.
  package func remove(_ account: AccountName) async {
    guard let service = table.withLock({ $0.removeValue(forKey: account) })?.service else { return }
    leaving.append(service)
    await service.mute()
    services.add {
      await service.stop()
      await self.hasLeft(service)
    }
  }

  private func hasLeft(_ service: SessionService) { leaving.removeAll { $0 === service } }

  /// The account's session was configured anew. `entry` is new but for its service.
  package func update(_ entry: Entry) async {
    table.withLock { $0[entry.service.account] = entry }
    await tellLocks(to: entry)
  }

  private func tellLocks(to entry: Entry) async {
    for lock in Lock.allCases where locks.contains(lock) { await entry.service.change(lock, isSet: true) }
  }

  /// Asks the account's session. Returns nil if there is none, or it was removed meanwhile.
  package func ask(_ call: SessionCall, of account: AccountName) async -> (entry: Entry, answer: SessionAnswer)? {
    guard let entry = entries[account] else { return nil }
    let answer = await entry.service.ask(call)
    if case .rejected(.stopping) = answer.response, entries[account] == nil { return nil }
    return (entry, answer)
  }

  /// The system has set or removed a lock: every session is told at once, and each that is added. Each obeys the locks
  /// that its account names.
  package func change(_ lock: Lock, isSet: Bool) async {
    if isSet { locks.insert(lock) } else { locks.remove(lock) }
    await withDiscardingTaskGroup { group in
      for entry in entries.values { group.addTask { await entry.service.change(lock, isSet: isSet) } }
    }
  }

  /// The network may be back: what failed for want of it is tried at once.
  package func networkReturned() async {
    for entry in entries.values { await entry.service.networkReturned() }
  }

  package var accounts: [AccountName] { entries.keys.sorted() }

  /// The accounts whose sessions wait for no refresh of one before them.
  package var begun: [AccountName] { accounts.filter { name in !leaving.contains { $0.account == name } } }

  /// The sessions in the order of their accounts.
  var all: [Entry] { entries.sorted { $0.key < $1.key }.map(\.value) }

  package subscript(account: AccountName) -> Entry? { entries[account] }

  /// Returns the token that satisfies a usual call, or nil if the session has to be asked. Waits for nobody.
  package nonisolated func readyToken(of account: AccountName, _ minValidity: Duration?) -> ReadyToken? {
    table.withLock { $0[account] }?.service.readyToken(minValidity)
  }

  /// Returns the token in use, if one is given out, even when something is due. Waits for nobody.
  package nonisolated func heldToken(of account: AccountName) -> ReadyToken? {
    table.withLock { $0[account] }?.service.heldToken
  }

  // MARK: - BearerTokenProvider

  package nonisolated func bearer(for account: AccountName) async throws(BearerFailure) -> Bearer {
    if let ready = readyToken(of: account, Self.validityToSend) { return ready.bearer }
    return try await currentBearer(of: account).bearer
  }

  private func currentBearer(
    of account: AccountName
  ) async throws(BearerFailure) -> (bearer: Bearer, answer: SessionAnswer) {
    guard let (_, answer) = await ask(.token(minValidity: Self.validityToSend), of: account) else { throw .noSession }
    switch answer.response {
    case .token(let bearer): return (bearer, answer)
    case .rejected(.refreshUnavailable(let message, let retryAfter)):
      throw .unavailable(message: message, retryAfter: retryAfter)
    case .rejected(.state), .rejected(.stopping), .rejected(.superseded), .rejected(.needsSignIn), .done, .signedOut:
      throw .noSession
    }
  }

  package func tokenRejected(
    _ rejection: APIRejection, of account: AccountName
  ) async throws(BearerFailure) -> Bearer {
    guard let (_, report) = await ask(.reportUnauthorized(rejection), of: account) else { throw .noSession }
    if case .token(let kept) = report.response { return kept }
    let (bearer, answer) = try await currentBearer(of: account)
    guard bearer.token.fingerprint == rejection.fingerprint else { return bearer }
    throw .unavailable(
      message: answer.status.history.lastError ?? "No new token could be had.",
      retryAfter: answer.status.nextAttemptAt.map { Swift.max($0 - answer.at, .seconds(1)) })
  }

  package nonisolated func tokenAccepted(_ fingerprint: Fingerprint, by url: HTTPURL, of account: AccountName) {
    table.withLock { $0[account] }?.service.tokenAccepted(fingerprint, by: url)
  }
}
