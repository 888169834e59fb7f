/// Decides when to read the credential, and handles what was found.
extension SessionMachine {
  mutating func readWhereDue(at now: Timestamp) -> [SessionAction] {
    file.read.requestIfDue(at: now)
    if credentialState == .notHeld(.locked), locks.isEmpty {
      credentialState = .notHeld(.unread)
      file.read.request()
    }
    // What is remembered about the account still has to be read, even if the session already has a grant.
    if !locks.areKnown, !file.read.isUnderWay, file.read.retryAt == nil { file.read.request() }
    guard file.read.isRequested, file.storeChange != .due, !file.read.isUnderWay, !file.write.isUnderWay,
      !credentialState.isEnding
    else { return [] }
    return file.beginRead(isRemembered: locks.areKnown)
  }

  mutating func credentialRead(_ reading: CredentialReading, at now: Timestamp) -> [SessionAction] {
    file.endRead()
    if file.write.isUnderWay || credentialState.isAdopting {
      // The file was read before the session's own write finished, so the reading may be out of date.
      file.read.request()
      return []
    }
    if let active, !isOtherGrant(reading, than: active) {
      if case .storing(let next, _) = active.phase {
        file.read.request()
        return write(next)
      }
      // The provider has rejected the token, so only a read that was requested after the rejection counts. That read
      // comes next. Ignore this earlier read, which may have found the file unreadable.
      if file.read.isRequested, active.phase.isConfirming { return [] }
    }
    if !file.read.isRequested { calls.finish(.read) }
    active?.newerFormat = if case .tooNew(let version) = reading { version } else { nil }
    switch meaning(of: reading) {
    case .unreadable(let accessFailure): return unreadable(accessFailure, at: now)
    case .corrupt(let why): return corrupt(why)
    case .found(let credential, let standing):
      let marks = GrantMarks(credential.grant)
      if standing == .former, let active, GrantMarks(active.grant) != marks {
        // The grant in memory is newer, so write it again. If Hearth sent the older grant, the provider could end the
        // session.
        file.noteContent(marks)
        self.active?.isStored = false
      }
      let actions = found(credential, at: now)
      // If this is the grant in memory, only its protection on disk has to change.
      if standing == .misprotected, let active, GrantMarks(active.grant) == marks { self.active?.isStored = false }
      return actions
    case .ended(let record, _):
      file.read.succeeded()
      return foundEnd(record, at: now)
    case .neverSignedIn:
      file.read.succeeded()
      return foundNothing(at: now)
    case .missing(let place):
      file.read.succeeded()
      return foundNothing(in: place, at: now)
    case .tooNew(let version):
      file.read.succeeded()
      return foundNewer(version, at: now)
    }
  }

  private func isOtherGrant(_ reading: CredentialReading, than active: ActiveGrant) -> Bool {
    guard case .found(let credential, let standing) = reading, standing != .former else { return false }
    let marks = GrantMarks(credential.grant)
    return marks != GrantMarks(active.grant) && marks != file.lastSeen
  }

  /// Interprets a reading while a grant is in memory. A file that has vanished together with its marker and its entry
  /// in accounts.json counts as inaccessible instead of removed, and a file in a newer format counts as unreadable.
  /// In both cases, the grant in memory stays in use.
  private func meaning(of reading: CredentialReading) -> CredentialReading {
    guard let active, !active.phase.isConfirming else { return reading }
    switch reading {
    case .neverSignedIn where !file.mayLack(active):
      return .unreadable(
        AccessFailure(.volumeUnavailable, detail: "its file and Hearth's record of it no longer exist"))
    case .tooNew(let version):
      return .unreadable(
        AccessFailure(.storageError, detail: "a newer version of Hearth wrote it (format \(version)); update Hearth"))
    case .neverSignedIn, .found, .ended, .missing, .unreadable, .corrupt: return reading
    }
  }

  private mutating func unreadable(_ accessFailure: AccessFailure, at now: Timestamp) -> [SessionAction] {
    file.readFailed(accessFailure, at: now)
    let known = credentialState.accessFailure
    switch credentialState {
    case .notHeld: credentialState = .notHeld(.unreadable(accessFailure))
    case .active(let active):
      // The provider's rejection is final, so end the session even though the file cannot be read. If a newer grant is
      // later found in the file, the session uses that grant.
      if case .confirming(let reason) = active.phase { return end(reason, at: now) }
      self.active?.accessFailure = accessFailure
    case .starting, .adopting, .ending, .ended, .absent: return []
    }
    return accessFailure == known ? [] : [.publish(.credentialUnreadable(accessFailure))]
  }

  // MARK: - A grant is found

  private mutating func found(_ credential: Credential, at now: Timestamp) -> [SessionAction] {
    let marks = GrantMarks(credential.grant)
    if let again = finishEnd(marks, at: now) { return again }
    file.read.succeeded()
    let readable: [SessionAction] = credentialState.accessFailure == nil ? [] : [.publish(.credentialReadable)]
    switch credentialState {
    case .notHeld, .starting, .ended, .absent:
      return readable + use(credential, at: now)
    case .adopting, .ending:
      file.read.request()
      return []
    case .active(let active):
      self.active?.accessFailure = nil
      if marks == GrantMarks(active.grant) {
        file.noteContent(marks)
        // The grant's owner, origin or times in memory may have changed since it was written.
        if credential == active.stored { self.active?.isStored = true }
        return readable + confirmRejection(at: now)
      }
      let isRefused = [.refreshTokenRejected, .accountDisabled].contains { active.phase == .confirming($0) }
      if isRefused, marks.spendable == GrantMarks(active.grant).spendable {
        // A copy with the refresh token that was just refused is not a newer grant.
        file.noteContent(marks)
        return readable + confirmRejection(at: now)
      }
      if file.isOlder(marks, than: active) {
        // The file contains an older grant, so write the grant in memory now that the file is accessible.
        file.noteContent(marks)
        file.write.retryNow()
        return readable + confirmRejection(at: now)
      }
      return readable + use(credential, at: now)
    }
  }

  /// If the file contains the grant of a session that has ended, because the end was not fully saved, saves the end
  /// again or removes the grant. Otherwise, returns `nil`. Until the end is saved, the delay between reads is not
  /// reset.
  private mutating func finishEnd(_ marks: GrantMarks, at now: Timestamp) -> [SessionAction]? {
    switch credentialState {
    case .ended(let record) where marks.contains(record.fingerprint):
      // The token that was rejected or has expired must not be used again.
      file.noteContent(marks)
      return file.beginEnd(record)
    case .absent(signedOut: true) where marks == file.onDisk:
      // The removal could not be recorded, and the signed-out grant is in the file again.
      return file.beginEnd(EndRecord(reason: .signedOut, at: now, fingerprint: nil))
    case .notHeld, .active, .starting, .adopting, .ending, .ended, .absent: return nil
    }
  }

  /// Uses a credential that was read from disk.
  private mutating func use(_ credential: Credential, at now: Timestamp) -> [SessionAction] {
    let marks = GrantMarks(credential.grant)
    let isOther =
      switch credentialState {
      case .notHeld: file.onDisk.map { $0 != marks } ?? false
      case .active, .starting, .adopting, .ending, .ended, .absent: file.onDisk != marks
      }
    file.noteContent(marks)
    let owner = credential.subject ?? settings.configuredSubject
    if isOther {
      epoch.grantReplaced()
      if let owner, let subject, !owner.isSameUser(as: subject) { refreshes.abandon() }
      refreshes.restart()
      file.write.succeeded()
    }
    user.found(owner, isOther: isOther)
    let actions: [SessionAction] = isOther ? [.publish(.statusChanged)] : []
    guard locks.isEmpty else {
      credentialState = .notHeld(.locked)
      return actions
    }
    activate(recalled.grant(credential), at: now)
    active?.correctIssueTime(at: now)
    return actions + questions(about: credential)
  }

  // MARK: - No grant is found

  /// Plans the request for the client's own first grant. While the session is locked, the request has to wait.
  private mutating func start() { credentialState = locks.isEmpty ? .starting(isInFlight: false) : .notHeld(.locked) }

  private mutating func foundEnd(_ record: EndRecord, at now: Timestamp) -> [SessionAction] {
    switch credentialState {
    case .notHeld: foundEnded(record)
    // The file that a newer version of Hearth wrote is gone.
    case .ended(let shown) where shown.reason == .credentialTooNew: foundEnded(record)
    case .active(let active):
      if case .confirming(let reason) = active.phase { return end(reason, at: now) }
      // An end that the file records does not end a session whose grant is in memory, so write the grant again.
      file.noteContent(nil)
      self.active?.isStored = false
      self.active?.accessFailure = nil
    case .ended, .absent:
      // The end or the removal that failed to be written is now on disk.
      file.write.succeeded()
    case .starting, .adopting, .ending: break
    }
    return []
  }

  private mutating func foundEnded(_ record: EndRecord) {
    if isRecoverable(record.reason) { start() } else { credentialState = CredentialState(record) }
  }

  /// Handles a missing credential. `place` says where the credential was, or is `nil` if there was none.
  private mutating func foundNothing(in place: String? = nil, at now: Timestamp) -> [SessionAction] {
    let detail = place.map { "The credential is missing: \($0)." }
    switch credentialState {
    case .notHeld:
      if settings.renewsWithoutRefreshToken {
        start()
      } else if place != nil {
        return end(.credentialMissing, detail: detail, at: now)
      } else {
        credentialState = .absent(signedOut: false)
      }
    case .active(let active):
      if case .confirming(let reason) = active.phase { return end(reason, at: now) }
      if file.mayLack(active) {
        self.active?.accessFailure = nil
      } else if settings.renewsWithoutRefreshToken {
        // Stop using the grant in memory, and request a new one.
        epoch.grantReplaced()
        file.noteContent(nil)
        start()
      } else {
        return end(.credentialMissing, detail: detail, at: now)
      }
    case .ended(let record) where record.reason == .credentialTooNew && settings.renewsWithoutRefreshToken:
      // The file of the newer version of Hearth is gone.
      start()
    case .starting, .adopting, .ending, .ended, .absent: break
    }
    return []
  }

  /// Moves a corrupt file aside before anything else happens, because its content may still be useful.
  private mutating func corrupt(_ why: String) -> [SessionAction] {
    switch credentialState {
    case .notHeld, .starting, .ended, .absent: break
    case .adopting, .ending: return []
    case .active:
      active?.isStored = false
      active?.accessFailure = nil
      file.noteContent(nil)
    }
    file.write.begin()
    return [.setAside(why: why)]
  }

  mutating func wasSetAside(_ result: Result<String, AccessFailure>, why: String, at now: Timestamp) -> [SessionAction]
  {
    file.write.end()
    let name: String
    switch result {
    case .failure(let accessFailure): return unreadable(accessFailure, at: now)
    case .success(let found): name = found
    }
    file.read.succeeded()
    let event = SessionAction.publish(.credentialSetAside(name: name, why: why))
    switch credentialState {
    case .notHeld: return [event] + endCorrupt(why, setAsideAs: name, at: now)
    // The session had ended only because a newer version wrote the file. The file is now corrupt and has been moved.
    case .ended(let record) where record.reason == .credentialTooNew:
      return [event] + endCorrupt(why, setAsideAs: name, at: now)
    case .active:
      // Write immediately, before any read, because memory contains the only copy.
      return [event] + confirmRejection(at: now) + writeUnstored(at: now)
    case .starting, .adopting, .ending, .ended, .absent: return [event]
    }
  }

  /// Handles a corrupt file that was moved aside. If the client can request its own grant, plans a new request.
  /// Otherwise, ends the session.
  private mutating func endCorrupt(_ why: String, setAsideAs name: String, at now: Timestamp) -> [SessionAction] {
    if settings.renewsWithoutRefreshToken {
      start()
      return []
    }
    let detail = "The credential cannot be understood (\(why)) and was moved to \(name)."
    return end(.credentialCorrupt, detail: detail, at: now)
  }

  private mutating func foundNewer(_ version: Int, at now: Timestamp) -> [SessionAction] {
    switch credentialState {
    case .active: return confirmRejection(at: now)
    case .notHeld, .starting: endTooNew(version, at: now)
    case .adopting, .ending, .ended, .absent: break
    }
    return []
  }

  // MARK: - Missing details of a credential

  /// Asks the provider for the credential's owner and the token endpoint's origin, if they are unknown.
  func questions(about credential: Credential) -> [SessionAction] {
    let isOwnerKnown = credential.subject ?? settings.configuredSubject != nil
    let isPlaceKnown =
      settings.binding.map { $0.origin == credential.origin || $0.mismatch(of: credential) != nil } ?? true
    return isOwnerKnown && isPlaceKnown ? [] : [identify(credential)]
  }

  func identify(_ credential: Credential) -> SessionAction {
    .identify(credential, generation: epoch.generation, provider: epoch.provider)
  }

  mutating func identified(
    _ owner: Subject?, at origin: Origin?, endpoints: Set<Origin>?, generation asked: Int
  ) -> [SessionAction] {
    if let origin { settings.binding?.resolve(to: origin) }
    if let endpoints { settings.binding?.endpoints = endpoints }
    guard asked == epoch.generation, let active else { return [] }
    var credential = active.credential
    // Set the origin before the owner. Without an origin, the owner's issuer would decide whether the grant is
    // foreign, and the provider's issuer may have another name.
    if credential.origin == nil, let origin, settings.binding?.mismatch(of: credential) == nil {
      credential.origin = origin
    }
    let isForeign = settings.binding?.mismatch(of: credential) != nil
    if !isForeign { credential.origins = credential.origins ?? endpoints }
    var changesStatus = isForeign || settings.binding?.strayEndpoint(of: credential) != nil
    if let owner {
      let refined = credential.subject?.refined(by: owner) ?? owner
      if refined != credential.subject {
        changesStatus = user.learn(refined, of: credential, configured: settings.configuredSubject) || changesStatus
        credential.subject = refined
      }
    }
    if credential != active.credential {
      self.active?.credential = credential
      self.active?.isStored = false
      file.invalidateWrite()
    }
    return changesStatus ? [.publish(.statusChanged)] : []
  }
}
