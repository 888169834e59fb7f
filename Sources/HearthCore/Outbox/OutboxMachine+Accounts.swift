/// The accounts' sessions, their configuration, and why they are paused.
extension OutboxMachine {
  // MARK: - Sessions

  /// Called when the session of an account has changed. `knownSubject` is its user or last user, if one is known; a
  /// subject in `permission` takes precedence. `former` is the same user under an earlier name. `token` is the
  /// session's token.
  package mutating func sessionChanged(
    _ name: AccountName, permission: OutboxPermission, knownSubject: Subject?, formerly former: Subject?,
    token: Fingerprint?, at now: Timestamp
  ) {
    guard let account = accounts[name] else { return }
    let subject: Subject? =
      if case .sendable(let subject) = permission { subject ?? knownSubject } else { knownSubject }
    if permission != account.permission || subject != account.knownSubject {
      withdraw(name, at: now)
    }
    if permission != account.permission || token != account.token {
      accounts[name]?.stalledUntil = nil
      accounts[name]?.refused = RefusedItems()
      accounts[name]?.hasGoodToken()
    }
    let isOther = permission != account.permission || subject != account.knownSubject
    accounts[name]?.permission = permission
    accounts[name]?.lastSubject = subject == nil ? account.knownSubject ?? account.lastSubject : nil
    accounts[name]?.knownSubject = subject
    accounts[name]?.formerSubject = former
    if isOther, subject == nil, permission == .blocked(reason: OutboxPermission.signedOut) {
      accounts[name]?.isLeft = true
      for id in account.senders.keys { accounts[name]?.senders[id]?.hasUserLeft = true }
    }
    if isOther { accounts[name]?.bindAgain() }
    accounts[name]?.isSessionReported = true
    accounts[name]?.token = token
    accounts[name]?.mayHaveMore = .all
    wake(name)
    judge(name, at: now)
    notePause(of: name)
  }

  /// Called when somebody has signed in, so that items that were held for a sign-in are sent.
  package mutating func signedIn(_ name: AccountName) {
    accounts[name]?.hasSignedIn = true
    wake(name)
  }

  /// Called when the account may have items without a user.
  package mutating func madeNobodys(_ name: AccountName) {
    accounts[name]?.bindAgain()
    wake(name)
  }

  /// Whether an item that is enqueued now gets its user: the session of its account has been read.
  package func isSessionReported(_ name: AccountName) -> Bool { accounts[name]?.isSessionReported ?? true }

  // MARK: - Configuration

  /// Called when the configuration was reloaded.
  package mutating func accountsChanged(
    _ apis: [AccountName: APISettings], settings: OutboxSettings, at now: Timestamp
  ) {
    let keepsLess =
      settings.keepDelivered < self.settings.keepDelivered || settings.keepDead < self.settings.keepDead
      || settings.maxItems < self.settings.maxItems
    if keepsLess, nextPruneAt != nil { nextPruneAt = now }
    self.settings = settings
    policy = DeliveryPolicy(settings)
    for name in accounts.keys where apis[name] == nil {
      stopSending(of: name, at: now)
      accounts[name]?.isConfigured = false
      removeUnused(name)
    }
    for (name, api) in apis {
      if accounts[name]?.isConfigured != true {
        accounts[name] = OutboxAccount(api, retry: settings.retry, after: accounts[name])
      }
      if accounts[name]?.api.origins != api.origins { accounts[name]?.mayHoldConfigured = true }
      accounts[name]?.api = api
      accounts[name]?.breaker.configure(api.origins, settings.retry)
      // The origin may not be the account's any more; the next claim finds out again.
      accounts[name]?.timeNeededFrom = nil
      accounts[name]?.left = [:]
      accounts[name]?.mayHaveMore = .all
      wake(name)
      notePause(of: name)
    }
    arePausesRead = false
    agreeOnTime()
  }

  /// Forgets an account that was removed from the configuration, once its last request and its last discarding call
  /// have ended and the store knows that its user has left.
  mutating func removeUnused(_ name: AccountName) {
    guard let account = accounts[name], !account.isConfigured, account.senders.isEmpty, account.discards == 0,
      !account.isLeft
    else { return }
    accounts[name] = nil
    awake.remove(name)
  }

  /// The configured accounts.
  package var names: Set<AccountName> { Set(accounts.filter(\.value.isConfigured).keys) }

  package func knownSubject(of name: AccountName) -> Subject? { accounts[name]?.knownSubject }

  /// The subjects under which the store may have items of the account's user, or of the user who has signed out. They
  /// include no user (`nil`) and the user's former name, whose items may not be bound to the user yet. The user comes
  /// last: an item that is bound while the others are being discarded is then discarded with the user's.
  package func subjects(of name: AccountName) -> [Subject?] {
    guard let account = accounts[name] else { return [] }
    let isSendable = if case .sendable = account.permission { true } else { false }
    let user = isSendable ? account.knownSubject : account.lastSubject ?? account.knownSubject
    let subjects = [nil] + [account.formerSubject, user].filter { $0 != nil }
    if isSendable || account.knownSubject != nil { return subjects }
    // Only the store knows who signed out before this process began.
    if user == nil { return subjects + [.last] }
    return user == .unnamed ? subjects + [.unnamedBefore] : subjects
  }

  /// Called when the account's user has signed out. If users have no names, the next user looks the same, even after a
  /// crash. So `leaving` informs the store before anybody learns of the sign-out.
  package mutating func left(_ name: AccountName) {
    guard subjects(of: name).contains(.unnamed) else { return }
    accounts[name]?.isLeft = true
    madeNobodys(name)
  }

  /// The work that tells the store that a user without a name has left, or `nil` if it already knows.
  package func leaving(_ name: AccountName) -> OutboxStoreWork? {
    accounts[name]?.isLeft == true ? .bind(name, to: .unnamedBefore, formerly: .unnamed, adopts: false) : nil
  }

  // MARK: - Pauses and discards

  /// Called before the pauses are changed or read. The number is passed to `paused(_:_:number:at:)` with the result.
  package mutating func nextPauseNumber() -> Int {
    lastPauseNumber += 1
    return lastPauseNumber
  }

  /// Called when the user has paused or resumed these accounts.
  package mutating func paused(_ names: Set<AccountName>, _ isPaused: Bool, number: Int, at now: Timestamp) {
    for name in names {
      accounts[name]?.pauseRead(isPaused: isPaused, number: number)
      if accounts[name]?.isPausedByUser == true { withdraw(name, at: now) }
      accounts[name]?.mayHaveMore = .all
      wake(name)
      judge(name, at: now)
      notePause(of: name)
    }
  }

  /// Called when a call begins to discard the items of the account's user. None of them is sent until `discarded(_:)`.
  package mutating func discarding(_ name: AccountName, at now: Timestamp) {
    accounts[name]?.discards += 1
    withdraw(name, at: now)
    judge(name, at: now)
  }

  /// Called when a discarding call has ended, successfully or not.
  package mutating func discarded(_ name: AccountName, at now: Timestamp) {
    wipeSoon(at: now)
    accounts[name]?.discards -= 1
    accounts[name]?.mayHaveMore = .all
    wake(name)
    removeUnused(name)
  }

  /// Records a change of the reason why sending is paused. No event is published while a session is being read, since
  /// its next state is not known yet. An account that is not configured is not shown.
  mutating func notePause(of name: AccountName) {
    guard let account = accounts[name], account.isConfigured, account.pausedReason != account.shownPause else { return }
    var change = OutboxPauseChange(account: name, reason: account.pausedReason)
    accounts[name]?.shownPause = account.pausedReason
    if account.pausedReason != OutboxAccount.hydrating, account.pausedReason != account.publishedPause {
      accounts[name]?.publishedPause = account.pausedReason
      change.event = account.pausedReason.map { .paused($0) } ?? account.publishedPause.map { .resumed($0) }
    }
    pauseChanges.append(change)
  }

  /// Returns the pauses that began or ended since the last call, in order.
  package mutating func takePauseChanges() -> [OutboxPauseChange] {
    defer { pauseChanges = [] }
    return pauseChanges
  }

  /// Why an account's items are not sent now, or `nil` if they are.
  package func pausedReason(of name: AccountName) -> String? { accounts[name]?.pausedReason }
}

/// A change of the reason why an account's sending is paused.
package struct OutboxPauseChange: Hashable, Sendable {
  package enum Event: Hashable, Sendable {
    /// The reason why sending is, or was, paused.
    case paused(String), resumed(String)
  }

  package let account: AccountName
  /// The reason to show, or `nil` if sending is not paused.
  package let reason: String?
  /// The event to publish. `nil` if the change is only shown.
  package var event: Event?
}
