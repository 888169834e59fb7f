/// Ends sessions. If the end has to be written, clients do not see it until it is on record.
extension SessionMachine {
  mutating func end(_ reason: EndReason, detail: String? = nil, at now: Timestamp) -> [SessionAction] {
    refreshes.abandon()
    return record(EndRecord(reason: reason, at: now, fingerprint: mark(of: reason), detail: detail), at: now)
  }

  private mutating func record(_ record: EndRecord, at now: Timestamp) -> [SessionAction] {
    refreshes.forgetRejection()
    file.write.succeeded()
    credentialState = .ending(record, shownAs: state(at: now))
    return file.beginEnd(record)
  }

  /// Returns the fingerprint of the token that was rejected or has expired, so that the session does not use it again
  /// if it reappears in the file. Returns `nil` if the session ended for another reason.
  private func mark(of reason: EndReason) -> Fingerprint? {
    guard let grant = active?.grant else { return nil }
    switch reason {
    case .refreshTokenRejected, .accountDisabled: return (grant.refreshToken ?? grant.accessToken).fingerprint
    case .rejectedByServer: return grant.bearer(settings.bearer).fingerprint
    case .refreshTokenExpired, .noRefreshToken: return grant.accessToken.fingerprint
    case .signedOut, .credentialMissing, .credentialCorrupt, .credentialTooNew: return nil
    }
  }

  /// Ends a session whose token has expired and cannot be renewed. Waits while the account is locked, while the file
  /// is inaccessible, and while a pending read may find another grant.
  mutating func endWhereExpired(at now: Timestamp) -> [SessionAction] {
    guard let active, active.phase == .idle, locks.isEmpty, file.isQuiet, active.grant.isExpired(at: now) else {
      return []
    }
    if let format = active.newerFormat, active.isStored {
      refreshes.abandon()
      endTooNew(format, at: now)
      return []
    }
    guard active.accessFailure == nil, !canAskAbout(active, at: now) else { return [] }
    return end(active.grant.refreshToken == nil ? .noRefreshToken : .refreshTokenExpired, at: now)
  }

  /// Ends the session without writing the end, because the newer version's file must stay unchanged.
  mutating func endTooNew(_ format: Int, at now: Timestamp) {
    file.read.succeeded()
    credentialState = .ended(
      EndRecord(
        reason: .credentialTooNew, at: now, fingerprint: nil,
        detail: "The credential was written by a newer version of Hearth (format \(format)); update Hearth."))
  }

  mutating func signOut(_ id: CallID, revoke: Bool, at now: Timestamp) -> [SessionAction] {
    let newest = newestInMemory
    let ended = endSignIns(.signedOutMeanwhile(account))
    leaveSignIn()
    if credentialState == .absent(signedOut: true) { return ended + [.answer(id, .signedOut(revoke: []))] }
    calls.add(id, .signOut(newest, revoke: revoke), at: now)
    if case .ending(let record, _) = credentialState, record.reason == .signedOut { return ended }
    file.revokesRemoved = revoke
    let superseded = calls.supersedeAdoptions(of: account)
    refreshes.restart()
    return ended + superseded + record(EndRecord(reason: .signedOut, at: now, fingerprint: nil), at: now)
  }

  private var newestInMemory: Credential? {
    switch credentialState {
    case .active(let active): active.newest
    case .adopting(let adoption): adoption.credential
    case .notHeld, .starting, .ending, .ended, .absent: nil
    }
  }

  // MARK: - The end is on record

  mutating func endWritten(_ result: Result<Void, EndNotWritten>, at now: Timestamp) -> [SessionAction] {
    let isRecorded = file.endWritten(result, isEnding: credentialState.isEnding, at: now, &random)
    guard isRecorded else { return publishUnrecordedEnd(at: now) }
    if case .ending(let record, _) = credentialState, record.reason != .signedOut { credentialState = .ended(record) }
    return []
  }

  mutating func removed(_ result: Result<RemovedCredentials, EndNotWritten>, at now: Timestamp) -> [SessionAction] {
    let removed = (try? result.get()) ?? RemovedCredentials()
    var written = result.map { _ in }
    if let accessFailure = removed.unrecorded { written = .failure(.partly(accessFailure)) }
    let isRecorded = file.endWritten(written, isEnding: credentialState.isEnding, at: now, &random)
    guard isRecorded else { return publishUnrecordedEnd(at: now) }
    let isComplete = if case .success = result { true } else { false }
    // If the sign-out timed out, its caller cannot revoke the removed credentials, so they are revoked here.
    var actions = calls.awaitSignOut || !file.revokesRemoved ? [] : leave(removed)
    if credentialState.isEnding {
      credentialState = .absent(signedOut: true)
      actions.append(.publish(.signedOut(subject)))
      user.becomes(settings.configuredSubject)
    } else if credentialState.isAdopting {
      // A user has signed in during the sign-out.
      actions.append(.publish(.signedOut(subject)))
    }
    return actions
      + calls.answerSignOuts { newest, revoke in
        let all = revoke ? removed.all(newest: newest) : []
        return (.signedOut(revoke: all, isComplete: isComplete || newest != nil), before: [])
      }
  }

  /// Revokes credentials that were removed after the sign-out was answered, once nobody is signed in as their user.
  func leave(_ removed: RemovedCredentials) -> [SessionAction] { removed.all(newest: nil).map { .revoke($0) } }

  // MARK: - The end is not on record

  /// The message to show while the end cannot be written, or `nil` if no write has failed.
  var endFailure: String? {
    guard case .ending(let record, _) = credentialState, file.write.failures > 0,
      let accessFailure = file.write.lastFailure
    else { return nil }
    let what = record.reason == .signedOut ? "You are being signed out" : "The session has ended"
    return "\(what), but Hearth cannot save that yet (\(accessFailure.detail)) and will retry."
  }

  /// Reports that the end could not be recorded. Does not publish the end itself, because a crash would undo it.
  /// Rejects the waiting sign-outs, but immediately revokes their grants if they asked for that.
  private mutating func publishUnrecordedEnd(at now: Timestamp) -> [SessionAction] {
    guard !file.write.isUnderWay, let accessFailure = file.write.lastFailure else { return [] }
    let events: [SessionAction] =
      file.write.failures == 1 ? [.publish(.credentialPendingWrite(accessFailure))] : []
    let failure = unavailable(endFailure ?? accessFailure.detail, at: now)
    return events
      + calls.answerSignOuts { newest, revoke in
        (.rejected(failure), before: revoke ? newest.map { [.revokeAtOnce($0)] } ?? [] : [])
      }
  }
}

extension RemovedCredentials {
  /// Returns all credentials to revoke. Prefers `newest` from memory, because the one on disk may be older.
  fileprivate func all(newest: Credential?) -> [Credential] {
    let own = newest ?? current
    let marks = own.map { GrantMarks($0.grant) }
    return (own.map { [$0] } ?? []) + former.filter { GrantMarks($0.grant) != marks }
  }
}
