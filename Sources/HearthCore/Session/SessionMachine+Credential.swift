/// The credential on disk: what reading and writing it brought.
extension SessionMachine {
  mutating func credentialRead(_ reading: CredentialReading, at now: Timestamp) -> [SessionAction] {
    looking.isReading = false
    if writing.isWriting || adoption != nil {
      // Read before our own write landed: it tells nothing about now.
      looking.isWanted = true
      return []
    }
    for index in calls.indices where calls[index].kind == .look && !looking.isWanted {
      calls[index].outcome = .succeeded
    }
    if case .unreadable(let obstacle) = reading { return unreadable(obstacle, at: now) }
    looking.wasFruitful()
    switch reading {
    case .found(let credential): return found(credential, at: now)
    case .ended(let record): return readEnd(record, at: now)
    case .neverSignedIn: return readAbsence(nil, at: now)
    case .missing(let place): return readAbsence(place, at: now)
    case .corrupt(let flaw): return corrupt(flaw, at: now)
    case .tooNew(let version): return tooNew(version, at: now)
    case .unreadable: return []
    }
  }

  private mutating func unreadable(_ obstacle: Obstacle, at now: Timestamp) -> [SessionAction] {
    switch knowledge {
    case .unread, .withheld, .unreadable:
      looking.wasFruitless(at: now)
      let isNews = knowledge != .unreadable(obstacle)
      knowledge = .unreadable(obstacle)
      return isNews ? [.announce(.credentialUnreadable(obstacle))] : []
    case .held(var held):
      looking.wasFruitless(at: now)
      let isNews = held.obstacle != obstacle
      held.obstacle = obstacle
      knowledge = .held(held)
      return isNews ? [.announce(.credentialUnreadable(obstacle))] : []
    case .ending, .ended, .absent:
      return []
    }
  }

  private mutating func found(_ credential: Credential, at now: Timestamp) -> [SessionAction] {
    let marks = GrantMarks(credential.grant)
    switch knowledge {
    case .unread, .withheld:
      return adopt(credential, at: now)
    case .unreadable:
      return [.announce(.credentialReadable)] + adopt(credential, at: now)
    case .ended(let record, _):
      // The end reached accounts.json and not the file: the refused token is never sent again.
      if marks.contains(record.fingerprint) {
        writing.underWay += 1
        return [.writeEnd(record)]
      }
      generation += 1
      return adopt(credential, at: now)
    case .absent:
      generation += 1
      return adopt(credential, at: now)
    case .ending:
      looking.isWanted = true
      return []
    case .held(var held):
      let wasUnreadable = held.obstacle != nil
      held.obstacle = nil
      knowledge = .held(held)
      let news: [SessionAction] = wasUnreadable ? [.announce(.credentialReadable)] : []
      if marks == GrantMarks(held.grant) {
        onDisk = marks
        held.isStored = true
        knowledge = .held(held)
        return news + confirmedRejection(at: now)
      }
      if marks == onDisk, !held.isStored {
        // Ours is the newer one; settle writes it now that the file can be reached.
        writing.againAt = nil
        return news + confirmedRejection(at: now)
      }
      generation += 1
      return news + adopt(credential, at: now)
    }
  }

  /// Takes over a credential that lies on disk.
  private mutating func adopt(_ credential: Credential, at now: Timestamp) -> [SessionAction] {
    onDisk = GrantMarks(credential.grant)
    let owner = credential.subject ?? settings.configuredSubject
    let isNews = knowledge != .withheld && knowledge != .unread
    guard locks.isEmpty else {
      knowledge = .withheld
      subject = owner ?? subject
      return []
    }
    hold(credential, isStored: true)
    // A hint is kept until the provider has told otherwise; another program's grant starts without one.
    subject = owner ?? (isNews ? nil : subject)
    var actions: [SessionAction] = isNews ? [.announce(.statusChanged)] : []
    if owner == nil { actions.append(.identify(credential, generation: generation)) }
    return actions
  }

  mutating func hold(_ credential: Credential, isStored: Bool, obstacle: Obstacle? = nil) {
    history = RefreshHistory()
    refusedToken = nil
    if isStored { onDisk = GrantMarks(credential.grant) }
    let refreshAt = settings.refresh.refreshTime(of: credential.grant, share: chance.share())
    knowledge = .held(HeldGrant(credential: credential, isStored: isStored, obstacle: obstacle, refreshAt: refreshAt))
  }

  private mutating func readEnd(_ record: EndRecord, at now: Timestamp) -> [SessionAction] {
    switch knowledge {
    case .unread, .withheld, .unreadable:
      knowledge = record.reason == .signedOut ? .absent(signedOut: true) : .ended(record, detail: nil)
    case .held(var held):
      if case .confirming(let reason) = held.phase { return end(reason, at: now) }
      // Nothing that is written in a file ends a session that is in memory: it is written anew.
      held.isStored = false
      held.obstacle = nil
      knowledge = .held(held)
    case .ending, .ended, .absent: break
    }
    return []
  }

  /// `place`: where the credential was, when there was one.
  private mutating func readAbsence(_ place: String?, at now: Timestamp) -> [SessionAction] {
    switch knowledge {
    case .unread, .withheld, .unreadable:
      guard let place else {
        knowledge = .absent(signedOut: false)
        return []
      }
      return end(.credentialMissing, detail: "The credential was removed: \(place).", at: now)
    case .held(let held):
      if case .confirming(let reason) = held.phase { return end(reason, at: now) }
      return end(
        .credentialMissing, detail: place.map { "The credential was removed: \($0)." }, at: now)
    case .ending, .ended, .absent:
      return []
    }
  }

  private mutating func corrupt(_ flaw: String, at now: Timestamp) -> [SessionAction] {
    switch knowledge {
    case .unread, .withheld, .unreadable:
      return [.setAside] + end(.credentialCorrupt, detail: nil, at: now)
    case .held(var held):
      if case .confirming(let reason) = held.phase { return [.setAside] + end(reason, at: now) }
      held.isStored = false
      held.obstacle = nil
      knowledge = .held(held)
      onDisk = nil
      return [.setAside]
    case .ended, .absent:
      return [.setAside]
    case .ending:
      return []
    }
  }

  private mutating func tooNew(_ version: Int, at now: Timestamp) -> [SessionAction] {
    switch knowledge {
    case .unread, .withheld, .unreadable, .held:
      generation += 1
      refusedToken = nil
      // Not written down: the file says it by itself, and must stay as the newer version left it.
      knowledge = .ended(
        EndRecord(reason: .credentialTooNew, at: now, fingerprint: nil),
        detail: "The credential was written by a newer version of Hearth (format \(version)); update Hearth.")
    case .ending, .ended, .absent: break
    }
    return []
  }

  /// Ends the session: the record is on its way to the disk, and told when it is there.
  mutating func end(
    _ reason: EndReason, detail: String? = nil, fingerprint: Fingerprint? = nil, at now: Timestamp
  ) -> [SessionAction] {
    var mark = fingerprint ?? onDisk?.accessToken
    if case .held(let held) = knowledge, fingerprint == nil {
      mark =
        reason == .refreshTokenRejected || reason == .accountDisabled
        ? held.grant.refreshToken?.fingerprint : held.grant.accessToken.fingerprint
    }
    let record = EndRecord(reason: reason, at: now, fingerprint: mark)
    generation += 1
    refusedToken = nil
    knowledge = .ending(record, detail: detail, shownAs: state(at: now))
    writing.underWay += 1
    return [.writeEnd(record)]
  }

  mutating func endWritten(_ result: Result<Void, Obstacle>, at now: Timestamp) -> [SessionAction] {
    writing.underWay -= 1
    switch result {
    case .success: writing.succeeded()
    case .failure(let obstacle): writing.failed(obstacle, at: now, share: chance.share())
    }
    if case .ending(let record, let detail, _) = knowledge { knowledge = .ended(record, detail: detail) }
    return []
  }

  mutating func removed(_ result: Result<Void, Obstacle>, at now: Timestamp) -> [SessionAction] {
    writing.underWay -= 1
    // Where the file is out of reach the removal is noted, and done by a later read.
    if case .ending = knowledge { knowledge = .absent(signedOut: true) }
    if case .failure(let obstacle) = result {
      writing.lastObstacle = obstacle
      looking.wasFruitless(at: now)
    }
    onDisk = nil
    var actions: [SessionAction] = [.announce(.signedOut(subject))]
    subject = settings.configuredSubject
    for call in calls {
      guard case .signOut(let credential) = call.kind else { continue }
      actions.append(.answer(call.id, .signedOut(revoke: credential)))
    }
    calls.removeAll { if case .signOut = $0.kind { true } else { false } }
    return actions
  }

  mutating func written(
    _ result: Result<Void, Obstacle>, generation written: Int, at now: Timestamp
  ) -> [SessionAction] {
    writing.underWay -= 1
    guard written == generation else { return [] }
    let isStored: Bool
    switch result {
    case .success:
      writing.succeeded()
      isStored = true
    case .failure(let obstacle):
      writing.failed(obstacle, at: now, share: chance.share())
      isStored = false
    }
    var actions: [SessionAction] = []
    if let credential = adoption {
      adoption = nil
      actions += signedIn(credential, isStored: isStored)
    } else if case .held(var held) = knowledge {
      if case .storing(let credential) = held.phase {
        actions += refreshed(credential, isStored: isStored, at: now)
      } else {
        held.isStored = isStored
        knowledge = .held(held)
      }
    }
    if isStored, case .held(let held) = knowledge { onDisk = GrantMarks(held.grant) }
    if case .failure(let obstacle) = result, writing.failures == 1 {
      actions.append(.announce(.credentialPendingWrite(obstacle)))
    }
    return actions
  }

  private mutating func signedIn(_ credential: Credential, isStored: Bool) -> [SessionAction] {
    hold(credential, isStored: isStored)
    subject = credential.subject ?? settings.configuredSubject
    var actions: [SessionAction] = []
    if locks.remove(.user) != nil { actions.append(.rememberLockedByUser(false)) }
    actions.append(.announce(.signedIn(subject)))
    if subject == nil { actions.append(.identify(credential, generation: generation)) }
    for index in calls.indices where calls[index].kind == .adoption { calls[index].outcome = .succeeded }
    return actions
  }

  mutating func identified(_ owner: Subject?, generation identified: Int) -> [SessionAction] {
    guard identified == generation, let owner, case .held(var held) = knowledge, held.credential.subject == nil
    else { return [] }
    held.credential.subject = owner
    held.isStored = false
    knowledge = .held(held)
    subject = owner
    return [.announce(.statusChanged)]
  }
}
