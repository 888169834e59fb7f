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
    /// The path of the credential file.
    package let place: String
    package var offer: TokenOffer
    /// How a grant is kept that is still to be revoked.
    package let revocations: PendingRevocation.Keeping
    /// The provider ends no other grant of the user with the one that is revoked.
    package var revokesOneGrant: Bool

    package init(
      service: SessionService, signIn: any SignInEndpoint, place: String, probe: (any AccountProbe)? = nil,
      offer: TokenOffer = TokenOffer(), revocations: PendingRevocation.Keeping = .memory,
      revokesOneGrant: Bool = false
    ) {
      (self.service, self.signIn, self.place, self.probe) = (service, signIn, place, probe)
      (self.offer, self.revocations, self.revokesOneGrant) = (offer, revocations, revokesOneGrant)
    }
  }

  /// A token that is sent at once need not last longer than it takes to arrive.
  private static let validityToSend: Duration = .seconds(2)

  private let table = Mutex<[AccountName: Entry]>([:])
  private var entries: [AccountName: Entry] { table.withLock(\.self) }
  private var isStopped = false
  /// The locks of users, set or not, that a session before could not write. The next one tries again.
  private var unwrittenLocks: [AccountName: Bool] = [:]
  /// The locks that the system has set.
  private var locks: Set<Lock> = []
  /// The accounts whose session is being replaced, and the callers that wait for that.
  private var changing: [AccountName: [CheckedContinuation<Void, Never>]] = [:]
  /// What a session that was replaced could not write, for the next one at its place. It is nowhere else: it is kept
  /// until that one inherits it, through locks too, or the account is signed out.
  private var unwritten: [AccountName: [String: UnwrittenGrant]] = [:]
  private let services = WorkInbox()

  package init() {}

  /// Runs every service that is added, until `stop`.
  package func run() async { await services.run() }

  /// Each session waits for a request that was sent, until `timeout`. If that is nil, it is as long as one may take,
  /// and 5 s.
  package func stop(timeout: Duration? = nil) async {
    isStopped = true
    await withDiscardingTaskGroup { group in
      for entry in entries.values { group.addTask { await entry.service.stop(timeout: timeout) } }
    }
    services.finish()
  }

  /// Replaces the account's session, which waits for its refresh first, by that of `entry`. Nil removes it.
  package func set(_ entry: Entry?, for account: AccountName) async {
    _ = await current(account)
    changing[account] = []
    let old = entries[account]
    if let old {
      await old.service.stop()
      unwritten[account, default: [:]][old.place] = await old.service.unwritten
    }
    if let entry, let grant = unwritten[account]?.removeValue(forKey: entry.place) {
      await entry.service.inherit(grant)
    }
    // Once everything stops, nothing would run it: the one before it stays and rejects what is asked.
    if entry == nil || !isStopped { table.withLock { $0[account] = entry } }
    // Only now: until then a lock still reached the session before this one.
    if let old { unwrittenLocks[account] = await old.service.unwrittenLock }
    if let entry {
      if let isSet = unwrittenLocks.removeValue(forKey: account) { await entry.service.change(.user, isSet: isSet) }
      await tellLocks(to: entry)
    }
    if let entry, !isStopped { services.add { await entry.service.run() } }
    changing.removeValue(forKey: account)?.forEach { $0.resume() }
  }

  /// The account's session goes on as it is configured now, and keeps all that it knows. `entry` is new but for its service.
  package func update(_ entry: Entry, _ settings: SessionSettings, _ endpoint: (any TokenEndpoint)?) async {
    table.withLock { $0[entry.service.account] = entry }
    await entry.service.configured(settings, endpoint)
    await tellLocks(to: entry)
  }

  private func tellLocks(to entry: Entry) async {
    for lock in Lock.allCases where locks.contains(lock) { await entry.service.change(lock, isSet: true) }
  }

  /// The account's session, once nothing replaces it any more.
  package func current(_ account: AccountName) async -> Entry? {
    while changing[account] != nil { await withCheckedContinuation { changing[account, default: []].append($0) } }
    return entries[account]
  }

  /// Asks the account's session. A call that a new configuration interrupts is repeated to the session that follows.
  /// Returns nil if there is no session.
  package func ask(_ call: SessionCall, of account: AccountName) async -> (entry: Entry, answer: SessionAnswer)? {
    guard var entry = entries[account] else { return nil }
    var abandoned: [Credential] = []
    if case .signOut(let revoke) = call, let grants = unwritten.removeValue(forKey: account), revoke {
      abandoned = grants.values.map(\.credential)
    }
    while true {
      let answer = await entry.service.ask(call).revoking(abandoned)
      guard case .rejected(.stopping) = answer.response else { return (entry, answer) }
      guard let next = await current(account) else { return nil }
      if next.service === entry.service { return (entry, answer) }
      entry = next
    }
  }

  /// Has the account's session do what may be done twice, and then also the one that a new configuration puts in its
  /// place meanwhile.
  package func forEachCurrent<Failure>(
    _ account: AccountName, _ body: (SessionService) async throws(Failure) -> Void
  ) async throws(Failure) {
    var reached: SessionService?
    var result: Result<Void, Failure> = .success(())
    while let service = await current(account)?.service, service !== reached {
      result = await Result { () async throws(Failure) in try await body(service) }
      reached = service
    }
    try result.get()
  }

  /// The user locks the account: at once, also while its session is being replaced, which still gives tokens. The one that
  /// follows reads the lock where it was noted, or is told of it.
  package func lock(_ account: AccountName) async { await entries[account]?.service.lock(.user) }

  /// The system has set or removed a lock: every session is told at once, those that follow too, and each obeys the locks
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
