/// The accounts: their sessions, their configuration, and why they are paused.
extension OutboxMachine {
  // MARK: - Sessions

  /// The session of an account changed. `knownSubject` is its user, or its last one, as far as one is known; a subject
  /// in `permission` takes precedence. `former` is the same user by another name from before. `token` is the token that
  /// the session holds.
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
      accounts[name]?.hasGoodToken()
    }
    let isOther = permission != account.permission || subject != account.knownSubject
    accounts[name]?.permission = permission
    accounts[name]?.lastSubject = subject == nil ? account.knownSubject ?? account.lastSubject : nil
    accounts[name]?.knownSubject = subject
    accounts[name]?.formerSubject = former
    if subject == nil, permission == .blocked(reason: OutboxPermission.signedOut) {
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

  /// Somebody has signed in, anew or again: what needed that goes on.
  package mutating func signedIn(_ name: AccountName) {
    accounts[name]?.hasSignedIn = true
    wake(name)
  }

  /// Items of the account may be nobody's from now on, or again.
  package mutating func madeNobodys(_ name: AccountName) {
    accounts[name]?.bindAgain()
    wake(name)
  }

  /// Whether an item that is enqueued now is its user's: the session of its account has been read.
  package func isSessionReported(_ name: AccountName) -> Bool { accounts[name]?.isSessionReported ?? true }

  // MARK: - Configuration

  /// The configuration was read again.
  package mutating func accountsChanged(
    _ apis: [AccountName: APISettings], settings: OutboxSettings, at now: Timestamp
  ) {
    let keepsLess =
      settings.keepDelivered < self.settings.keepDelivered || settings.keepDead < self.settings.keepDead
      || settings.maxItems < self.settings.maxItems
    if keepsLess, nextPruneAt != nil { nextPruneAt = now }
    self.settings = settings
    policy = DeliveryPolicy(settings)
    let retry = RetryPolicy(initial: settings.retryInitial, max: settings.retryMax)
    for name in accounts.keys where apis[name] == nil {
      stopSending(of: name, at: now)
      accounts[name]?.isConfigured = false
      removeUnused(name)
    }
    for (name, api) in apis {
      if accounts[name]?.isConfigured != true {
        let before = accounts[name]
        accounts[name] = OutboxAccount(api, retry: retry)
        accounts[name]?.senders = before?.senders ?? [:]
        accounts[name]?.discards = before?.discards ?? 0
        accounts[name]?.isLeft = before?.isLeft ?? false
        // What is under way goes on before the pauses are read again.
        if let before { accounts[name]?.pauseRead(isPaused: before.isPausedByUser, number: before.pauseNumber) }
        accounts[name]?.bindAgain()
      }
      if accounts[name]?.api.origins != api.origins { accounts[name]?.mayHoldConfigured = true }
      accounts[name]?.api = api
      accounts[name]?.breaker.configure(api.origins, retry)
      // It may be an origin that is not the account's any more; the next claim finds out anew.
      accounts[name]?.timeNeededFrom = nil
      accounts[name]?.left = [:]
      accounts[name]?.mayHaveMore = .all
      wake(name)
      notePause(of: name)
    }
    arePausesRead = false
    agreeOnTime()
  }

  /// An account that is not configured any more is forgotten with its last request, and the last call that discards, but
  /// not before the store has been told that its user has left.
  mutating func removeUnused(_ name: AccountName) {
    guard let account = accounts[name], !account.isConfigured, account.senders.isEmpty, account.discards == 0,
      !account.isLeft
    else { return }
    accounts[name] = nil
    awake.remove(name)
  }

  /// The configured accounts.
  package var names: Set<AccountName> { Set(accounts.filter(\.value.isConfigured).keys) }

  /// Where the account's token may go, mail servers among them; nil where the account is not configured.
  package func origins(of name: AccountName) -> Set<Origin>? {
    accounts[name].flatMap { $0.isConfigured ? $0.api.allOrigins : nil }
  }

  package func knownSubject(of name: AccountName) -> Subject? { accounts[name]?.knownSubject }

  /// Under what subjects the store may have items of the account's user, or of the one who has signed out. Besides the user
  /// these are nobody (nil) and the former name, whose items may not be bound to the user yet. The user comes last: an item
  /// that is bound while the others are discarded is discarded with the user's.
  package func subjects(of name: AccountName) -> [Subject?] {
    guard let account = accounts[name] else { return [] }
    let isSendable = if case .sendable = account.permission { true } else { false }
    let user = isSendable ? account.knownSubject : account.lastSubject ?? account.knownSubject
    return [nil] + [account.formerSubject, user].filter { $0 != nil }
  }

  // MARK: - Pauses and discards

  /// A change or a reading of pauses begins; the number goes to `paused(_:_:number:at:)` with what came of it.
  package mutating func nextPauseNumber() -> Int {
    lastPauseNumber += 1
    return lastPauseNumber
  }

  /// The user has paused these accounts, or resumed them.
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

  /// Items of the account's user are being discarded: none of them is sent until `discarded(_:)`.
  package mutating func discarding(_ name: AccountName, at now: Timestamp) {
    accounts[name]?.discards += 1
    withdraw(name, at: now)
    judge(name, at: now)
  }

  /// A call that discards has ended, whether it has discarded all or failed.
  package mutating func discarded(_ name: AccountName) {
    accounts[name]?.discards -= 1
    accounts[name]?.mayHaveMore = .all
    wake(name)
    removeUnused(name)
  }

  /// Notes why sending is paused now, where that has changed. While a session is being read no event tells so: its state
  /// before stands until the next one is known. An account that is not configured is not shown.
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

  /// The pauses that began or ended since this was last asked, in order.
  package mutating func takePauseChanges() -> [OutboxPauseChange] {
    defer { pauseChanges = [] }
    return pauseChanges
  }

  /// The reason why an account's items are not sent now; nil where they are.
  package func pausedReason(of name: AccountName) -> String? { accounts[name]?.pausedReason }
}
