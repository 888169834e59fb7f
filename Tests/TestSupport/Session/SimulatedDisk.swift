package import HearthCore

/// A credential file, its marker and accounts.json, and the writes of a store to them, one at a time, so that a crash
/// can happen between any two.
package struct SimulatedDisk: Sendable {
  package enum File: Hashable, Sendable {
    case nothing, garbage, tooNew
    case grant(Credential)
    case ended(EndRecord)
  }

  /// The content of accounts.json.
  package struct Known: Hashable, Sendable {
    package var end: EndRecord?
    package var subject: Subject?
    package var fingerprint: Fingerprint?
    package var clock: GrantClock?
    package var lockedByUser = false
    package var isToBeRemoved = false
    package var removalMark: Fingerprint?
    package var grants = GrantHistory()
    package var isPlaced = false
    /// The place where the credential was last seen or written.
    package var place = 0
    package var barred: Fingerprint?
    package var rejected: Fingerprint?
  }

  package enum Job: Hashable, Sendable {
    case recall, read
    case write(Credential, generation: Int, over: StoredVersion = .any)
    case writeEnd(EndRecord)
    case remove(EndRecord, Fingerprint?)
    case setAside
    /// For the grant of an import or a sign-in.
    case makeRoom(CallID)
    case prepare(Credential?, generation: Int, over: StoredVersion = .any)
    case remember(lockedByUser: Bool)
    case note(TokenNote)
    case lock, unlock
    /// Switches to another place. The file is nil if it was moved there.
    case replace(File?, isSealed: Bool)
  }

  package enum Progress {
    case goesOn
    case done(Result<Void, AccessFailure>)
    /// The file has another program's grant.
    case superseded
    case read(CredentialReading)
  }

  package var file = File.nothing
  package var marker = false
  /// The number of places that the credential has had.
  private var place = 0
  package var known = Known()
  package var isDenied = false
  package var isAway = false
  package var isFull = false
  /// Whether a passphrase seals the credential. It must be entered after each lock.
  package var isSealed = false
  package var hasKey = true
  /// The clock and its boot, or `nil` to remember no clock.
  package var moment: Moment?

  package struct Moment: Hashable, Sendable {
    package var now: Timestamp
    package var stepped: Duration
    package var boot: String

    package init(now: Timestamp, stepped: Duration = .zero, boot: String = "this") {
      (self.now, self.stepped, self.boot) = (now, stepped, boot)
    }

    package mutating func set(by step: Duration) { (now, stepped) = (now + step, stepped + step) }
  }

  package init() {}

  package var remembered: RememberedAccount {
    RememberedAccount(
      subject: known.subject, lockedByUser: known.lockedByUser, end: known.end, barred: known.barred,
      rejected: known.rejected, clockStep: moment.flatMap { known.clock?.step(to: $0.stepped, boot: $0.boot) })
  }

  package var grant: Credential? {
    if case .grant(let credential) = file { credential } else { nil }
  }

  /// The grant that can be opened now.
  package var openGrant: Credential? { blocked == nil && (!isSealed || hasKey) ? grant : nil }

  private var blocked: AccessFailure? { isAway ? .away : isDenied ? .denied : nil }
  private var cannotWrite: AccessFailure? { blocked ?? (isSealed && !hasKey ? .sealed : nil) ?? (isFull ? .full : nil) }

  /// What an interrupted job has recorded of an end.
  package func notWritten(_ record: EndRecord, _ accessFailure: AccessFailure) -> EndNotWritten {
    known.end == record || file == .ended(record) ? .partly(accessFailure) : .nowhere(accessFailure)
  }

  /// Takes one step of a job; `index` counts from 0.
  package mutating func step(_ job: Job, _ index: Int) -> Progress {
    switch job {
    case .recall: return .done(isDenied ? .failure(.denied) : .success(()))
    case .read: return .read(read())
    case .makeRoom: return .done(cannotWrite.map { .failure($0) } ?? .success(()))
    case .prepare(_, _, let version):
      if let cannotWrite { return .done(.failure(cannotWrite)) }
      return holdsOther(than: version) ? .superseded : .done(.success(()))
    case .write(let credential, _, let version):
      return index == 0 && cannotWrite == nil && holdsOther(than: version, nor: credential)
        ? .superseded : write(credential, index)
    case .writeEnd(let record): return writeEnd(record, index)
    case .remove(let record, let mark): return remove(record, mark, index)
    case .setAside:
      if let blocked { return .done(.failure(blocked)) }
      if file == .garbage { file = .nothing }
      return .done(.success(()))
    case .remember(let lockedByUser):
      if isFull { return .done(.failure(.full)) }
      known.lockedByUser = lockedByUser
      return .done(.success(()))
    case .note(let note):
      if isFull { return .done(.failure(.full)) }
      switch note {
      case .barred(let token): known.barred = token
      case .rejected(let token): known.rejected = token
      }
      return .done(.success(()))
    case .lock:
      hasKey = false
      return .done(.success(()))
    case .unlock:
      hasKey = true
      return .done(.success(()))
    case .replace(let file, let isSealed):
      self.file = file ?? self.file
      place += 1
      (marker, isDenied, isAway) = (false, false, false)
      (self.isSealed, hasKey) = (isSealed, !isSealed)
      return .done(.success(()))
    }
  }

  /// Whether `read` would find a grant there that is neither of these.
  private func holdsOther(than version: StoredVersion, nor credential: Credential? = nil) -> Bool {
    var copy = self
    guard case .grant(let marks) = version, case .found(let found, .current) = copy.read() else { return false }
    return GrantMarks(found.grant) != marks && GrantMarks(found.grant) != credential.map { GrantMarks($0.grant) }
  }

  private mutating func write(_ credential: Credential, _ index: Int) -> Progress {
    switch index {
    case 0:
      if let accessFailure = cannotWrite { return .done(.failure(accessFailure)) }
      file = .grant(credential)
      return .goesOn
    case 1:
      marker = true
      return .goesOn
    default:
      known.grants.stored(credential.grant)
      remember(credential)
      return .done(.success(()))
    }
  }

  private mutating func isPlaced() { (known.isPlaced, known.place) = (true, place) }

  private mutating func remember(_ credential: Credential) {
    isPlaced()
    known.end = nil
    known.isToBeRemoved = false
    known.subject = credential.subject
    known.fingerprint = credential.grant.accessToken.fingerprint
    known.clock = moment.map {
      GrantClock(of: credential.grant, after: known.clock, boot: $0.boot, at: ($0.now, $0.stepped))
    }
  }

  private mutating func writeEnd(_ record: EndRecord, _ index: Int) -> Progress {
    switch index {
    case 0:
      if isFull { return .done(.failure(.full)) }
      known.end = record
      known.grants.refuse(record.fingerprint)
      return .goesOn
    case 1:
      if let accessFailure = blocked ?? (isFull ? .full : nil) { return .done(.failure(accessFailure)) }
      if file == .tooNew { return .done(.success(())) }
      if case .grant(let credential) = file, !isOver(credential.grant, record), !known.grants.isFormer(credential.grant)
      {
        return .done(.failure(.full))
      }
      file = .ended(record)
      return .goesOn
    default:
      marker = true
      isPlaced()
      return .done(.success(()))
    }
  }

  private mutating func remove(_ record: EndRecord, _ mark: Fingerprint?, _ index: Int) -> Progress {
    switch index {
    case 0:
      if isFull, blocked != nil { return .done(.failure(.full)) }
      known.end = record
      known.isToBeRemoved = true
      known.removalMark = mark
      known.grants.signOut([mark, known.fingerprint])
      known.subject = nil
      return .goesOn
    case 1:
      if let blocked { return .done(.failure(blocked)) }
      known.grants.signOut([openGrant.map { GrantMarks($0.grant).spendable }])
      file = .nothing
      return .goesOn
    case 2:
      marker = false
      return .goesOn
    default:
      known.isToBeRemoved = false
      known.isPlaced = false
      (known.fingerprint, known.clock) = (nil, nil)
      return .done(.success(()))
    }
  }

  private mutating func read() -> CredentialReading {
    if isAway { return known.isPlaced || known.isToBeRemoved ? .unreadable(.away) : .neverSignedIn }
    if isDenied { return .unreadable(.denied) }
    switch file {
    case .nothing:
      if let signedOut = finishRemoval() { return signedOut }
      if let end = known.end { return .ended(end) }
      if marker || known.isPlaced && known.place != place { return .missing("work.json is gone") }
      return known.isPlaced ? .unreadable(.away) : .neverSignedIn
    case .garbage:
      return finishRemoval() ?? .corrupt("no JSON")
    case .tooNew:
      return finishRemoval() ?? .tooNew(version: 9)
    case .ended(let record):
      if let signedOut = finishRemoval() { return signedOut }
      let end = known.end?.prevailing(over: record) ?? record
      known.end = end
      return .ended(end)
    case .grant(let credential):
      return read(credential)
    }
  }

  private mutating func read(_ credential: Credential) -> CredentialReading {
    if isSealed, !hasKey { return finishRemoval() ?? .unreadable(.sealed) }
    let marks = [known.removalMark, known.fingerprint].compactMap { $0 }
    let isSignedOut = known.grants.isOver(credential.grant)
    if isSignedOut || marks.isEmpty || marks.contains(credential.grant.accessToken.fingerprint),
      let signedOut = finishRemoval()
    {
      return signedOut
    }
    if !known.isToBeRemoved, let end = known.end, isOver(credential.grant, end) {
      file = .ended(end)
      return .ended(end)
    }
    if isSignedOut {
      let end = known.end ?? EndRecord(reason: .credentialMissing, at: .sample, fingerprint: nil)
      known.end = end
      return .ended(end)
    }
    marker = true
    let isFormer = known.grants.isFormer(credential.grant)
    let isOfAnotherUser =
      known.subject.flatMap { old in credential.subject.map { !$0.isSameUser(as: old) } } ?? false
    known.grants.found(credential.grant, isOfAnotherUser: isOfAnotherUser)
    remember(credential)
    return isFormer ? .found(credential, .former) : .found(credential)
  }

  private func isOver(_ grant: Grant, _ end: EndRecord) -> Bool {
    switch end.reason {
    case .credentialMissing, .credentialCorrupt, .credentialTooNew: false
    case .signedOut, .refreshTokenRejected, .refreshTokenExpired, .noRefreshToken, .rejectedByServer, .accountDisabled:
      known.fingerprint == grant.accessToken.fingerprint
        || end.fingerprint.map { [grant.accessToken.fingerprint, grant.refreshToken?.fingerprint].contains($0) }
          ?? false
    }
  }

  private mutating func finishRemoval() -> CredentialReading? {
    guard known.isToBeRemoved, let end = known.end else { return nil }
    let removed = RemovedCredentials(current: openGrant)
    file = .nothing
    marker = false
    known.isToBeRemoved = false
    known.isPlaced = false
    (known.fingerprint, known.clock) = (nil, nil)
    return .ended(end, removed: removed)
  }
}
