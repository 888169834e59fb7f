package import HearthCore
internal import Synchronization

/// The sessions of all accounts. Starts and stops their services as accounts are added and removed, and provides the
/// bearer tokens for requests.
package actor SessionDirectory: BearerTokenProvider {
  package struct Entry: Sendable {
    package let service: SessionService
    package var signIn: any SignInEndpoint
    /// Checks the account for `session.diagnose`, or `nil` if there is nothing to check.
    package var probe: (any AccountProbe)?
    package var offer: TokenOffer
    /// Where and how to keep a grant that must still be revoked.
    package var revocations: PendingRevocation.Keeping
    /// Whether revoking one grant leaves the user's other grants valid.
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

  /// The minimum remaining lifetime of a token that is sent immediately, so that the token is still valid when it
  /// arrives.
  private static let validityToSend: Duration = .seconds(2)

  private let table = Mutex<[AccountName: Entry]>([:])
  private var entries: [AccountName: Entry] { table.withLock(\.self) }
  private var isStopped = false
  /// The locks that the system has set.
  private var locks: Set<Lock> = []
  /// The sessions of removed accounts that have not stopped yet, for example because a refresh is in progress.
  private var leaving: [SessionService] = []
  private let services = WorkInbox()

  package init() {}

  /// Runs all added services until `stop`.
  package func run() async { await services.run() }

  /// Stops all sessions. Each session waits up to `timeout` for a request in progress (default: the account's
  /// `request_timeout` plus 5 s).
  package func stop(timeout: Duration? = nil) async {
    isStopped = true
    await withDiscardingTaskGroup { group in
      for service in entries.values.map(\.service) + leaving {
        group.addTask { await service.stop(timeout: timeout) }
      }
    }
    services.finish()
  }

  /// Starts the account's session. The session does not read or write the credential until an earlier session of the
  /// account has stopped.
  package func add(_ entry: Entry) async {
    let account = entry.service.account
    // After `stop`, nothing would run the service.
    guard !isStopped else { return }
    let before = leaving.filter { $0.account == account }
    table.withLock { $0[account] = entry }
    await tellLocks(to: entry)
    services.add {
      await entry.service.run { for service in before { await service.stop() } }
    }
  }

  /// Removes an account that is no longer configured. A refresh in progress may finish, but nothing is published.
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

  /// Replaces the entry of a reconfigured account. The service must be the same.
  package func update(_ entry: Entry) async {
    table.withLock { $0[entry.service.account] = entry }
    await tellLocks(to: entry)
  }

  private func tellLocks(to entry: Entry) async {
    for lock in Lock.allCases where locks.contains(lock) { await entry.service.change(lock, isSet: true) }
  }

  /// Sends the call to the account's session. Throws an unknown-account error if the account has no session, or if the
  /// account is removed before the session answers.
  package func ask<Answer>(
    _ call: TypedCall<Answer>, of account: AccountName
  ) async throws(Failure) -> (entry: Entry, answer: SessionAnswer<Answer>) {
    guard let entry = entries[account] else { throw .unknownAccount(account) }
    let answer = await entry.service.ask(call)
    if case .failure(.shuttingDown) = answer.result, entries[account] == nil { throw .unknownAccount(account) }
    return (entry, answer)
  }

  /// Sets or removes a system lock in all sessions, including those added later. Each session applies only the locks
  /// that its account names.
  package func change(_ lock: Lock, isSet: Bool) async {
    if isSet { locks.insert(lock) } else { locks.remove(lock) }
    await withDiscardingTaskGroup { group in
      for entry in entries.values { group.addTask { await entry.service.change(lock, isSet: isSet) } }
    }
  }

  /// Tells all sessions that the network may be back, so that they immediately retry what failed without a network.
  package func networkReturned() async {
    for entry in entries.values { await entry.service.networkReturned() }
  }

  package var accounts: [AccountName] { entries.keys.sorted() }

  /// The accounts with a started session. A session that still waits for an earlier session of its account is not
  /// started.
  package var begun: [AccountName] { accounts.filter { name in !leaving.contains { $0.account == name } } }

  /// All sessions, in the order of their accounts.
  var all: [Entry] { entries.sorted { $0.key < $1.key }.map(\.value) }

  package subscript(account: AccountName) -> Entry? { entries[account] }

  /// Returns a token without waiting, or `nil` if the caller has to ask the session.
  package nonisolated func readyToken(of account: AccountName, _ minValidity: Duration?) -> Bearer? {
    table.withLock { $0[account]?.service }?.readyToken(minValidity)
  }

  /// Returns the token in use without waiting, even if a refresh is due.
  package nonisolated func heldToken(of account: AccountName) -> (bearer: Bearer, grant: Grant)? {
    table.withLock { $0[account]?.service }?.heldToken
  }

  // MARK: - BearerTokenProvider

  package nonisolated func bearer(for account: AccountName) async throws(Failure) -> Bearer {
    if let bearer = readyToken(of: account, Self.validityToSend) { return bearer }
    return try await ask(.token(minValidity: Self.validityToSend), of: account).answer.result.get()
  }

  package func tokenRejected(
    _ rejection: APIRejection, of account: AccountName
  ) async throws(Failure) -> Bearer {
    if case .success(let kept?) = try await ask(.reportUnauthorized(rejection), of: account).answer.result {
      return kept
    }
    let answer = try await ask(.token(minValidity: Self.validityToSend), of: account).answer
    let bearer = try answer.result.get()
    guard bearer.token.fingerprint == rejection.fingerprint else { return bearer }
    throw Failure(
      .refreshUnavailable,
      answer.status.history.lastError ?? "An API rejected \(account)'s token, and Hearth has no newer one yet.",
      account: account, action: answer.status.action,
      retryAfter: answer.status.nextAttemptAt.map { Swift.max($0 - answer.at, .seconds(1)) })
  }

  package nonisolated func tokenAccepted(_ fingerprint: Fingerprint, by url: HTTPURL, of account: AccountName) {
    table.withLock { $0[account]?.service }?.tokenAccepted(fingerprint, by: url)
  }
}
