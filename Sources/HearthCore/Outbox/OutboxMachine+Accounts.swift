/// The accounts' sessions, configuration and pauses.
extension OutboxMachine {
  // MARK: - Sessions

  /// Applies a change to the account's session. `knownSubject` is the current or last user, but a subject in
  /// `permission` takes precedence. `former` is the subject under which this user's items may have been stored before
  /// the provider named the user. `token` is the session's current token.
  package mutating func sessionChanged(
    _ name: AccountName, permission: OutboxPermission, knownSubject: Subject?, formerly former: Subject?,
    token: Fingerprint?, at now: Timestamp
  ) {
    guard let account = accounts[name] else { return }
    if permission != account.user.permission || token != account.token {
      accounts[name]?.stalledUntil = nil
      accounts[name]?.refused = RefusedItems()
      accounts[name]?.hasGoodToken()
    }
    if accounts[name]?.user.changed(permission, known: knownSubject, formerly: former) == true {
      withdraw(name, at: now)
      if accounts[name]?.user.isGone == true {
        for id in account.senders.keys { accounts[name]?.senders[id]?.hasUserLeft = true }
      }
    }
    accounts[name]?.token = token
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

  // MARK: - Configuration

  /// Applies a reloaded configuration.
  package mutating func accountsChanged(
    _ apis: [AccountName: APISettings], settings: OutboxSettings, at now: Timestamp
  ) {
    let keepsLess =
      settings.keepDelivered < self.settings.keepDelivered || settings.keepDead < self.settings.keepDead
      || settings.maxItems < self.settings.maxItems
    if keepsLess { sweeps.keepsLess(at: now) }
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
      // The origin may have been removed, so forget it. If the time is still needed, the next claim finds an origin to
      // ask.
      accounts[name]?.timeNeededFrom = nil
      accounts[name]?.unclaimed.configured()
      wake(name)
      notePause(of: name)
    }
    pauses.readAgain()
    agreeOnTime()
  }

  /// Forgets an account that was removed from the configuration, once its requests and discards have ended and the
  /// store has recorded any sign-out.
  mutating func removeUnused(_ name: AccountName) {
    guard let account = accounts[name], !account.isConfigured, account.senders.isEmpty, account.discards == 0,
      !account.user.isLeft
    else { return }
    accounts[name] = nil
    awake.remove(name)
  }

  package var names: Set<AccountName> { Set(accounts.filter(\.value.isConfigured).keys) }

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

  // MARK: - Pauses and discards

  /// Returns a number for a change or read of the pauses, to be reported with the result.
  package mutating func nextPauseNumber() -> Int { pauses.nextNumber() }

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

  mutating func notePause(of name: AccountName) {
    if let change = accounts[name]?.notePause(as: name) { pauses.changed(change) }
  }

  /// Returns the pause changes since the last call, in order.
  package mutating func takePauseChanges() -> [OutboxPauseChange] { pauses.takeChanges() }

  /// Returns the reason why the account's sending is paused, or `nil` if it is not paused.
  package func pausedReason(of name: AccountName) -> String? { accounts[name]?.pausedReason }
}
