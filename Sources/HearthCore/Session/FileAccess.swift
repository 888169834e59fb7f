/// The credential file: what is read and written there, when that is repeated, and what lies there as far as is known.
struct FileAccess: Hashable, Sendable {
  var read = ReadRetry()
  /// Writing grants and ends, removing and setting aside: the store does one at a time, in order.
  var write = WriteRetry()
  /// The grant on disk; nil where none is known to be there.
  var onDisk: GrantMarks?
  /// What is in memory has changed since its write began, so that the file will be out of date.
  private var isWriteOutdated = false
  /// The store has seen another program's grant that was not read yet.
  private(set) var isSuperseded = false
  /// The store was used since it last wiped its key.
  private var mayHoldKey = false

  /// Neither a read nor a write of the credential is under way, and no read is asked for.
  var isQuiet: Bool { !read.isUnderWay && !read.isRequested && !write.isUnderWay }

  /// `isRemembered`: the account's memory has been read, so that the credential comes next.
  mutating func beginRead(isRemembered: Bool) -> [SessionAction] {
    read.begin()
    guard isRemembered else { return [.recall] }
    mayHoldKey = true
    return [.read]
  }

  mutating func endRead() {
    read.end()
    isSuperseded = false
  }

  mutating func supersede() {
    isSuperseded = true
    read.request()
  }

  mutating func readFailed(_ accessFailure: AccessFailure, at now: Timestamp) {
    read.failed(at: now)
    if accessFailure.kind == .passphraseRequired { mayHoldKey = false }
  }

  mutating func beginWrite(_ credential: Credential, generation: Int) -> [SessionAction] {
    write.begin()
    isWriteOutdated = false
    mayHoldKey = true
    return [.write(credential, generation: generation)]
  }

  /// The grant in memory has changed.
  mutating func invalidateWrite() { isWriteOutdated = true }

  enum WriteOutcome { case failed, outdated, current }

  mutating func grantWritten(
    _ result: Result<Void, AccessFailure>, at now: Timestamp, _ random: inout SeededGenerator
  ) -> WriteOutcome {
    switch result {
    case .success:
      write.succeeded()
      return isWriteOutdated ? .outdated : .current
    case .failure(let accessFailure):
      write.failed(accessFailure, at: now, share: random.share())
      return .failed
    }
  }

  mutating func beginEnd(_ record: EndRecord) -> [SessionAction] {
    write.begin()
    return [record.reason == .signedOut ? .remove(record, fingerprint: onDisk?.accessToken) : .writeEnd(record)]
  }

  mutating func endRecorded() {
    write.succeeded()
    read.succeeded()
    onDisk = nil
  }

  /// The end is on record in one place, or it is about a grant that is not in use: a later read completes it.
  mutating func endMissed(_ accessFailure: AccessFailure, at now: Timestamp) {
    write.failedWithoutRetry(accessFailure)
    read.failed(at: now)
  }

  mutating func beginSetAside(why: String) -> [SessionAction] {
    write.begin()
    return [.setAside(why: why)]
  }

  /// The grant could not be written, and the file holds the same tokens.
  func hasSameTokens(as grant: Grant) -> Bool { write.failures > 0 && onDisk == GrantMarks(grant) }

  /// A passphrase may have come.
  mutating func keyMayHaveCome() { mayHoldKey = true }

  /// Has the store wipe its key, where it may hold one.
  mutating func wipeKey() -> [SessionAction] {
    guard mayHoldKey else { return [] }
    mayHoldKey = false
    return [.lockStore]
  }

  mutating func move(by step: Duration) {
    read.move(by: step)
    write.move(by: step)
    invalidateWrite()
  }
}
