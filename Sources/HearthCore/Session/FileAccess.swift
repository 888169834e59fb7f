/// Access to the credential file: reads and writes, their retries, and what is known about the file's content.
struct FileAccess: Hashable, Sendable {
  var read = ReadRetry()
  /// Writes of grants and ends, removals and setting aside. The store does one at a time, in order.
  var write = WriteRetry()
  /// The grant on disk, or `nil` if none is known to be there.
  var onDisk: GrantMarks? {
    didSet {
      if storeChange == .made { storeChange = .none }
      lastSeen = onDisk ?? lastSeen
    }
  }
  /// The grant that was on disk last. A copy of it may be elsewhere even if it was removed or set aside here.
  private(set) var lastSeen: GrantMarks?
  private(set) var storeChange = StoreChange.none
  /// Whether what a sign-out removes is to be revoked.
  var revokesRemoved = true
  /// Whether the grant in memory has changed since its write began, so that the file will be out of date.
  private var isWriteOutdated = false
  /// Whether the store has seen another program's grant that was not read yet.
  private(set) var isSuperseded = false
  /// Whether the store was used since it last wiped its key.
  private var mayHoldKey = false

  enum StoreChange {
    case none
    /// The previous store still has work to do. Nothing new is begun in it.
    case due
    /// No grant of this session has been seen in the new store yet: the one that `onDisk` names was elsewhere.
    case made
  }

  /// Called when the store is to be replaced. What is still being written to the old one has to be written again.
  mutating func storeIsDue() {
    storeChange = .due
    invalidateWrite()
  }

  mutating func storeReplaced() {
    storeChange = .made
    mayHoldKey = false
    read.succeeded()
    read.request()
    write.retryNow()
  }

  /// Whether no read or write of the credential is under way or requested.
  var isQuiet: Bool { !read.isUnderWay && !read.isRequested && !write.isUnderWay }

  /// `isRemembered` is true if the account's memory has been read, so that the credential comes next.
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
    isWriteOutdated = storeChange == .due
    mayHoldKey = true
    return [.write(credential, generation: generation)]
  }

  /// Called when the grant in memory has changed.
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
    return [
      record.reason == .signedOut
        ? .remove(record, fingerprint: onDisk?.accessToken, revokes: revokesRemoved) : .writeEnd(record)
    ]
  }

  mutating func endRecorded() {
    write.succeeded()
    read.succeeded()
    onDisk = nil
  }

  /// Called when the end is on record in one place, or is about a grant that is not in use. A later read completes it.
  mutating func endMissed(_ accessFailure: AccessFailure, at now: Timestamp) {
    write.failedWithoutRetry(accessFailure)
    read.failed(at: now)
  }

  mutating func beginSetAside(why: String) -> [SessionAction] {
    write.begin()
    return [.setAside(why: why)]
  }

  /// Whether the grant could not be written and the file holds the same tokens.
  func hasSameTokens(as grant: Grant) -> Bool { write.failures > 0 && onDisk == GrantMarks(grant) }

  /// Called when the passphrase may have been entered.
  mutating func keyMayHaveCome() { mayHoldKey = true }

  /// Makes the store wipe its key, if it may hold one.
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

/// Decides when the credential is read, and when reading is retried.
struct ReadRetry: Hashable, Sendable {
  /// Initially true, since a session begins by reading the account's memory.
  private(set) var isUnderWay = true
  /// Whether a read was requested that has not begun yet.
  private(set) var isRequested = false
  private(set) var retryAt: Timestamp?
  /// The number of reads in a row that found the file unreadable.
  private var failures = 0

  mutating func request() { isRequested = true }

  /// Turns a retry that is due into a request.
  mutating func requestIfDue(at now: Timestamp) {
    guard let retryAt, retryAt <= now else { return }
    self.retryAt = nil
    isRequested = true
  }

  mutating func begin() {
    isRequested = false
    isUnderWay = true
  }

  mutating func end() { isUnderWay = false }

  /// Retries after 0.3 s, doubling to 30 s, forever: nothing reports that a locked place was opened.
  mutating func failed(at now: Timestamp) {
    failures += 1
    let doublings = Swift.min(failures - 1, 10)
    retryAt = now + Swift.min(.milliseconds(300) * (1 << doublings), .seconds(30))
  }

  mutating func succeeded() {
    failures = 0
    retryAt = nil
  }

  mutating func cancelRetry() { retryAt = nil }

  mutating func move(by step: Duration) { retryAt = retryAt.map { $0 + step } }
}

/// Decides when something that could not be written is written again.
struct WriteRetry: Hashable, Sendable {
  private static let policy = RetryPolicy(initial: .milliseconds(500), max: .seconds(30))

  /// The number of writes, ends and removals that the store has not answered yet.
  private var underWay = 0
  /// The number of writes in a row that failed and are repeated.
  private(set) var failures = 0
  private(set) var retryAt: Timestamp?
  private(set) var lastFailure: AccessFailure?

  var isUnderWay: Bool { underWay > 0 }

  mutating func begin() { underWay += 1 }

  mutating func end() { underWay -= 1 }

  mutating func failed(_ accessFailure: AccessFailure, at now: Timestamp, share: Double) {
    failures += 1
    lastFailure = accessFailure
    retryAt = now + Self.policy.wait(failures: failures, random: share)
  }

  /// Records a failure that a later read makes up for, so that nothing is repeated here.
  mutating func failedWithoutRetry(_ accessFailure: AccessFailure) { lastFailure = accessFailure }

  /// Called when the write succeeded, or is no longer wanted.
  mutating func succeeded() {
    failures = 0
    retryAt = nil
    lastFailure = nil
  }

  mutating func retryNow() { retryAt = nil }

  /// Whether nothing is being written and no retry is being waited for.
  func mayBegin(at now: Timestamp) -> Bool { !isUnderWay && retryAt.map { $0 <= now } ?? true }

  /// When to retry. `nil` while a write is under way, because its result decides.
  var wakeAt: Timestamp? { isUnderWay ? nil : retryAt }

  mutating func move(by step: Duration) { retryAt = retryAt.map { $0 + step } }
}
