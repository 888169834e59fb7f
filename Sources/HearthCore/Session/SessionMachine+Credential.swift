/// The credential on disk: what reading it brought.
extension CredentialReading {
  /// What was found, however it is sealed.
  fileprivate var credential: Credential? {
    switch self {
    case .found(let credential), .misprotected(let credential): credential
    case .ended, .neverSignedIn, .missing, .unreadable, .corrupt, .tooNew: nil
    }
  }
}

extension SessionMachine {
  mutating func credentialRead(_ reading: CredentialReading, at now: Timestamp) -> [SessionAction] {
    looking.isReading = false
    if writing.isWriting || isAdopting {
      // Read before our own write landed: it tells nothing about now.
      looking.isWanted = true
      return []
    }
    if case .held(let held) = credentialState, case .storing(let next, _) = held.phase,
      !brings(reading, anotherThan: held)
    {
      looking.isWanted = true
      return write(next)
    }
    if looking.isWanted {
      // Asked for again meanwhile; after a refusal by the provider only what is read from then on counts, or a grant
      // that is not the refused one: the next look may meet an obstacle.
      if case .held(let held) = credentialState, held.phase.isConfirming, !brings(reading, anotherThan: held) {
        return []
      }
    } else {
      for index in calls.indices where calls[index].kind == .look { calls[index].outcome = .succeeded }
    }
    let newerFormat: Int? = if case .tooNew(let version) = reading { version } else { nil }
    updateHeld { held, _ in held.newerFormat = newerFormat }
    switch meaning(of: reading) {
    case .unreadable(let accessFailure): return unreadable(accessFailure, at: now)
    case .corrupt(let why): return corrupt(why)
    case .found(let credential): return found(credential, at: now)
    case .misprotected(let credential):
      let actions = found(credential, at: now)
      updateHeld { held, _ in
        // What was found is what is held: only how it lies on disk is to change.
        if GrantMarks(held.grant) == GrantMarks(credential.grant) { held.isStored = false }
      }
      return actions
    case .ended(let record):
      looking.wasFruitful()
      return readEnd(record, at: now)
    case .neverSignedIn:
      looking.wasFruitful()
      return readAbsence(nil, at: now)
    case .missing(let place):
      looking.wasFruitful()
      return readAbsence(place, at: now)
    case .tooNew(let version):
      looking.wasFruitful()
      return tooNew(version, at: now)
    }
  }

  private func brings(_ reading: CredentialReading, anotherThan held: HeldGrant) -> Bool {
    guard let credential = reading.credential else { return false }
    let marks = GrantMarks(credential.grant)
    return marks != GrantMarks(held.grant) && marks != onDisk
  }

  /// What has lain there before and left no trace is away; what a newer version wrote cannot be read. Neither takes
  /// away a grant that is in memory.
  private func meaning(of reading: CredentialReading) -> CredentialReading {
    guard case .held(let held) = credentialState, !held.phase.isConfirming else { return reading }
    switch reading {
    case .neverSignedIn where onDisk != nil:
      return .unreadable(AccessFailure(.volumeUnavailable, detail: "nothing is left of the place where it was"))
    case .tooNew(let version):
      return .unreadable(
        AccessFailure(.storageError, detail: "a newer version of Hearth wrote format \(version); update Hearth"))
    case .neverSignedIn, .found, .misprotected, .ended, .missing, .unreadable, .corrupt: return reading
    }
  }

  private mutating func unreadable(_ accessFailure: AccessFailure, at now: Timestamp) -> [SessionAction] {
    looking.wasFruitless(at: now)
    if accessFailure.kind == .passphraseRequired { mayHoldKey = false }
    let isNews: Bool
    switch credentialState {
    case .unread, .withheld, .unreadable:
      isNews = credentialState != .unreadable(accessFailure)
      credentialState = .unreadable(accessFailure)
    case .held(var held):
      // The provider has refused for good. That is remembered even where the file cannot be written, and a newer
      // grant that is found in it later is taken over.
      if case .confirming(let reason) = held.phase { return end(reason, at: now) }
      isNews = held.accessFailure != accessFailure
      held.accessFailure = accessFailure
      credentialState = .held(held)
    case .starting, .adopting, .ending, .ended, .absent:
      isNews = false
    }
    return isNews ? [.announce(.credentialUnreadable(accessFailure))] : []
  }

  private mutating func found(_ credential: Credential, at now: Timestamp) -> [SessionAction] {
    let marks = GrantMarks(credential.grant)
    if let again = finish(marks, at: now) { return [again] }
    looking.wasFruitful()
    switch credentialState {
    case .unread, .withheld:
      return adopt(credential, at: now)
    case .unreadable:
      return [.announce(.credentialReadable)] + adopt(credential, at: now)
    case .starting, .ended, .absent:
      return adopt(credential, at: now)
    case .adopting, .ending:
      looking.isWanted = true
      return []
    case .held(var held):
      let wasUnreadable = held.accessFailure != nil
      held.accessFailure = nil
      credentialState = .held(held)
      let news: [SessionAction] = wasUnreadable ? [.announce(.credentialReadable)] : []
      if marks == GrantMarks(held.grant) {
        onDisk = marks
        // Whose it is, or where from, may have become known since it was written, or the clock been set.
        held.isStored = held.isStored || credential == held.credential
        credentialState = .held(held)
        return news + confirmedRejection(at: now)
      }
      if marks == onDisk, !held.isStored {
        // Ours is the newer one; settle writes it now that the file can be reached.
        writing.againAt = nil
        return news + confirmedRejection(at: now)
      }
      return news + adopt(credential, at: now)
    }
  }

  /// Where the grant of a session that is over is still there: what could not be written or removed at first. Until
  /// that is done the looks grow no more frequent.
  private mutating func finish(_ marks: GrantMarks, at now: Timestamp) -> SessionAction? {
    switch credentialState {
    case .ended(let record) where marks.contains(record.fingerprint):
      // The end reached accounts.json and not the file: the refused token is never sent again.
      onDisk = marks
      writing.underWay += 1
      return .writeEnd(record)
    case .absent(signedOut: true) where marks == onDisk:
      // What was signed out could neither be removed nor its removal be noted.
      writing.underWay += 1
      return .remove(EndRecord(reason: .signedOut, at: now, fingerprint: nil), fingerprint: marks.accessToken)
    case .unread, .withheld, .unreadable, .held, .starting, .adopting, .ending, .ended, .absent: return nil
    }
  }

  /// Takes over a credential that lies on disk.
  private mutating func adopt(_ credential: Credential, at now: Timestamp) -> [SessionAction] {
    let marks = GrantMarks(credential.grant)
    let isNews =
      switch credentialState {
      case .unread, .withheld, .unreadable: onDisk.map { $0 != marks } ?? false
      case .held, .starting, .adopting, .ending, .ended, .absent: onDisk != marks
      }
    onDisk = marks
    let owner = credential.subject ?? settings.configuredSubject
    if isNews {
      epoch.generation += 1
      if let owner, let subject, !owner.isSameUser(as: subject) { request?.isAbandoned = true }
      history = RefreshHistory(lastAttemptAt: history.lastAttemptAt)
      writing.succeeded()
    }
    // A hint is kept until the provider has told otherwise; another program's grant starts without one.
    subject = owner ?? (isNews ? nil : subject)
    let actions: [SessionAction] = isNews ? [.announce(.statusChanged)] : []
    guard locks.isEmpty else {
      credentialState = .withheld
      return actions
    }
    hold(credential, isStored: true)
    let ahead = credential.grant.issuedAt - now
    if ahead > .zero { updateHeld { held, _ in held.wasIssuedAhead(by: ahead, at: now) } }
    return actions + questions(about: credential, isOwnerKnown: owner != nil)
  }

  mutating func hold(_ credential: Credential, isStored: Bool) {
    // The same token is as refused as it was, whatever lock wiped it meanwhile.
    if refusal?.fingerprint != credential.grant.bearer(settings.bearer).fingerprint { refusal = nil }
    let refreshAt = settings.refresh.refreshTime(of: credential.grant, share: random.share())
    credentialState = .held(
      HeldGrant(credential: credential, isStored: isStored, accessFailure: nil, refreshAt: refreshAt))
  }

  /// There is no credential, and none was signed out: the client's own grant is asked for, unless a lock forbids it.
  private mutating func start() { credentialState = locks.isEmpty ? .starting(isInFlight: false) : .withheld }

  private mutating func readEnd(_ record: EndRecord, at now: Timestamp) -> [SessionAction] {
    switch credentialState {
    case .unread, .withheld, .unreadable:
      if isOvercome(record.reason) {
        start()
      } else {
        credentialState = record.reason == .signedOut ? .absent(signedOut: true) : .ended(record)
      }
    case .held(var held):
      if case .confirming(let reason) = held.phase { return end(reason, at: now) }
      // Nothing that is written in a file ends a session that is in memory: it is written anew.
      onDisk = nil
      held.isStored = false
      held.accessFailure = nil
      credentialState = .held(held)
    case .ended, .absent:
      // What could not be written or removed at first is done.
      writing.succeeded()
    case .starting, .adopting, .ending: break
    }
    return []
  }

  /// `place`: where the credential was, when there was one.
  private mutating func readAbsence(_ place: String?, at now: Timestamp) -> [SessionAction] {
    switch credentialState {
    case .unread, .withheld, .unreadable:
      if settings.renewsWithoutRefreshToken {
        start()
        return []
      }
      guard let place else {
        credentialState = .absent(signedOut: false)
        return []
      }
      return end(.credentialMissing, detail: "The credential was removed: \(place).", at: now)
    case .held(var held):
      if case .confirming(let reason) = held.phase { return end(reason, at: now) }
      guard onDisk != nil else {
        // Nothing of ours has lain there yet: it is not gone, it is still to be written.
        held.accessFailure = nil
        credentialState = .held(held)
        return []
      }
      if settings.renewsWithoutRefreshToken {
        // What it held is not used any more, as with every account; a new one is asked for.
        epoch.generation += 1
        onDisk = nil
        start()
        return []
      }
      return end(.credentialMissing, detail: place.map { "The credential was removed: \($0)." }, at: now)
    case .ended(let record) where record.reason == .credentialTooNew && settings.renewsWithoutRefreshToken:
      // What a newer version wrote is gone.
      start()
      return []
    case .starting, .adopting, .ending, .ended, .absent:
      return []
    }
  }

  /// It is set aside first: nothing is written, and nothing ends, over a file that may still be of use to somebody.
  private mutating func corrupt(_ why: String) -> [SessionAction] {
    switch credentialState {
    case .unread, .withheld, .unreadable, .starting, .ended, .absent: break
    case .adopting, .ending: return []
    case .held(var held):
      held.isStored = false
      held.accessFailure = nil
      credentialState = .held(held)
      onDisk = nil
    }
    writing.underWay += 1
    return [.setAside(why: why)]
  }

  mutating func wasSetAside(_ result: Result<String, AccessFailure>, why: String, at now: Timestamp) -> [SessionAction]
  {
    writing.underWay -= 1
    var actions: [SessionAction] = []
    switch result {
    case .failure(let accessFailure):
      actions += unreadable(accessFailure, at: now)
    case .success(let name):
      actions.append(.announce(.credentialSetAside(name: name, why: why)))
      looking.wasFruitful()
      switch credentialState {
      case .unread, .withheld, .unreadable:
        actions += endCorrupt(why, setAsideAs: name, at: now)
      // Only the file said so, and it is gone now.
      case .ended(let record) where record.reason == .credentialTooNew:
        actions += endCorrupt(why, setAsideAs: name, at: now)
      case .held:
        actions += confirmedRejection(at: now)
        // At once, before any look: until it is written, memory holds the only copy.
        actions += writeWhereDue(at: now)
      case .starting, .adopting, .ending, .ended, .absent: break
      }
    }
    return actions
  }

  /// A client that needs nobody to sign in asks for a new grant.
  private mutating func endCorrupt(_ why: String, setAsideAs name: String, at now: Timestamp) -> [SessionAction] {
    if settings.renewsWithoutRefreshToken {
      start()
      return []
    }
    let detail = "The credential cannot be understood (\(why)) and was set aside as \(name)."
    return end(.credentialCorrupt, detail: detail, at: now)
  }

  private mutating func tooNew(_ version: Int, at now: Timestamp) -> [SessionAction] {
    switch credentialState {
    case .held: return confirmedRejection(at: now)
    case .unread, .withheld, .unreadable:
      endTooNew(version, at: now)
    case .starting: endTooNew(version, at: now)
    case .adopting, .ending, .ended, .absent: break
    }
    return []
  }

  /// Not written down: the file says it by itself, and must stay as the newer version left it.
  mutating func endTooNew(_ format: Int, at now: Timestamp) {
    looking.wasFruitful()
    credentialState = .ended(
      EndRecord(
        reason: .credentialTooNew, at: now, fingerprint: nil,
        detail: "The credential was written by a newer version of Hearth (format \(format)); update Hearth."))
  }
}
