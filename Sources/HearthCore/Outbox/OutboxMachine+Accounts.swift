/// The accounts: their sessions, servers and items.
extension OutboxMachine {
  // MARK: - Sessions

  /// Applies a change to the account's session. `knownSubject` is the current or last user, but a subject in
  /// `permission` takes precedence. `former` is the subject under which this user's items may have been stored before
  /// the provider named the user. `token` is the session's current token.
  package mutating func sessionChanged(
    _ name: AccountName, permission: OutboxPermission, knownSubject: Subject?, formerly former: Subject?,
    token: Fingerprint?, at now: Timestamp
  ) {
    let isOther = accounts[name]?.sessionChanged(permission, known: knownSubject, formerly: former, token: token)
    guard let isOther else { return }
    if isOther { withdraw(name, at: now) }
    accounts[name]?.unclaimed.add(.all)
    wake(name)
    judge(name, at: now)
    notePause(of: name)
  }

  /// Lets the store resume items that are held for a sign-in. Called when the user has signed in.
  package mutating func signedIn(_ name: AccountName) {
    accounts[name]?.hasSignedIn = true
    wake(name)
  }

  /// Requests a new binding, because the account may have unowned items.
  package mutating func madeNobodys(_ name: AccountName) {
    accounts[name]?.user.bindAgain()
    wake(name)
  }

  /// Returns whether the account's session has been read, so that new items can be assigned to its user.
  package func isSessionReported(_ name: AccountName) -> Bool { accounts[name]?.user.isReported ?? true }

  package func knownSubject(of name: AccountName) -> Subject? { accounts[name]?.user.known }

  /// Returns all subjects that may own items of the account's current user or, if that user has signed out, of the last
  /// user. `nil` and the user's former subject are included, because the store may not have assigned all items to the
  /// user yet. The user comes last, so that a caller that discards items in this order also finds items that are
  /// assigned to the user in the meantime.
  package func subjects(of name: AccountName) -> [Subject?] { accounts[name]?.user.subjects ?? [] }

  /// Records that the account's user has signed out, if the user had no name. Nothing distinguishes a later user
  /// without a name from this one, so the store must process the work from `leaving(_:)` before the sign-out becomes
  /// visible. Otherwise, a crash could give the later user this user's items.
  package mutating func left(_ name: AccountName) {
    guard subjects(of: name).contains(.unnamed) else { return }
    accounts[name]?.user.leave()
    wake(name)
  }

  /// Returns the work that tells the store that a user without a name has signed out, or `nil` if there is no such
  /// sign-out to record.
  package func leaving(_ name: AccountName) -> OutboxStoreWork? { accounts[name]?.user.leaving(name) }

  // MARK: - Network and time

  /// Retries everything that waits for an origin or a token. Called when the network may be back.
  package mutating func networkReturned(at now: Timestamp) {
    sweeps.timeAsked(at: nil)
    for name in accounts.keys { retryNow(name, at: now) }
  }

  /// Retries everything in this account that waits for an origin or a token.
  package mutating func retryNow(_ name: AccountName, at now: Timestamp) {
    accounts[name]?.retryNow(at: now)
    wake(name)
  }

  /// Records a response from one of the account's servers. `origin` is an API, or `nil` for the provider. `skew` is the
  /// server's clock minus this machine's clock, or `nil` if the response contains no time.
  package mutating func serverAnswered(_ name: AccountName, _ origin: Origin? = nil, skew: Duration?) {
    if accounts[name]?.clocks.told(skew, by: origin) == true { agreeOnTime() }
  }

  /// Agrees on the skew of the server whose clock differs least from this machine's clock, because if this machine's
  /// clock is wrong, every server's clock differs from it.
  mutating func agreeOnTime() {
    let clocks = accounts.values.filter(\.isConfigured).map(\.clocks)
    let least = clocks.compactMap(\.skew).min { $0.magnitude < $1.magnitude }
    sweeps.agree(on: least ?? (clocks.contains(where: \.isTold) ? .zero : nil))
    for (name, account) in accounts where account.timeNeededFrom != nil && account.clocks.isTold {
      accounts[name]?.timeNeededFrom = nil
      accounts[name]?.unclaimed.add(.all)
      wake(name)
    }
  }

  /// Returns the time that decides whether the account's items have expired. Only the account's own servers can confirm
  /// that time.
  func expiryTime(of name: AccountName, at now: Timestamp) -> ExpiryTime {
    guard accounts[name]?.clocks.isTold == true else { return .unconfirmed(now) }
    return .agreed(sweeps.agreedTime(at: now) ?? now)
  }

  // MARK: - Items

  /// Records that the store may have more items of these kinds to send.
  package mutating func ready(_ accounts: [AccountName: OutboxKinds]) {
    for (name, kinds) in accounts {
      self.accounts[name]?.unclaimed.add(kinds)
      wake(name)
    }
  }

  /// Records whether new items have no user yet, may expire, or may replace other items.
  package mutating func enqueued(
    _ receipts: [OutboxReceipt], expiring expiresAt: Timestamp?, mayReplace: Bool, at now: Timestamp
  ) {
    if mayReplace { wipeSoon(at: now) }
    // The user may have signed in just before these items were saved, so the items may not be assigned to the user yet.
    for receipt in receipts {
      let name = receipt.item.account
      if accounts[name]?.user.enqueued(under: receipt.item.subject) == true { wake(name) }
    }
    sweeps.expires(at: expiresAt)
  }

  package mutating func paused(_ names: Set<AccountName>, _ isPaused: Bool, number: Int, at now: Timestamp) {
    for name in names {
      accounts[name]?.pauseRead(isPaused: isPaused, number: number)
      if accounts[name]?.isPausedByUser == true { withdraw(name, at: now) }
      accounts[name]?.unclaimed.add(.all)
      wake(name)
      judge(name, at: now)
      notePause(of: name)
    }
  }

  /// Records that a call has started to discard the user's items. No item is sent until `discarded(_:at:)` is called.
  package mutating func discarding(_ name: AccountName, at now: Timestamp) {
    accounts[name]?.discards += 1
    stopSending(of: name, at: now)
  }

  /// Records that a call has finished discarding items, successfully or not.
  package mutating func discarded(_ name: AccountName, at now: Timestamp) {
    wipeSoon(at: now)
    accounts[name]?.discards -= 1
    accounts[name]?.unclaimed.add(.all)
    wake(name)
    removeUnused(name)
  }

  package var names: Set<AccountName> { Set(accounts.filter(\.value.isConfigured).keys) }

  /// Returns the time of the next probe of an unreachable origin, or `nil` if no probe is scheduled for later.
  package func probeTime(of name: AccountName, _ origin: Origin, at now: Timestamp) -> Timestamp? {
    accounts[name]?.breaker.probeTime(of: origin).flatMap { now < $0 && $0 < .distantFuture ? $0 : nil }
  }

  /// Returns whether the account's items can be sent or may soon be. Right after a start, the pauses and the session
  /// are not known yet, so sending may begin once they are.
  package func mayBeSendable(_ name: AccountName) -> Bool {
    guard let account = accounts[name] else { return false }
    return account.isSendable || !account.isPausedByUser && (!pauses.areRead || account.isHydrating)
  }

  /// Returns whether the account has nothing left to send now.
  package func isIdle(_ name: AccountName, at now: Timestamp) -> Bool {
    guard let account = accounts[name], mayBeSendable(name) else { return true }
    guard pauses.areRead, !account.isHydrating else { return false }
    return account.senders.isEmpty && account.queue.isEmpty && unwritten.isEmpty && !account.unclaimed.isClaiming
      && (account.stalledUntil != nil
        || !account.unclaimed.mayExist && account.user.isBound && !account.isFreeing
          && !(account.unclaimed.nextDueAt.map { $0 <= now } ?? false)
          && !(account.breaker.nextProbeAt.map { $0 <= now } ?? false))
  }

  /// Returns the reason why the account's sending is paused, or `nil` if it is not paused.
  package func pausedReason(of name: AccountName) -> String? { accounts[name]?.pausedReason }
}
