/// Tracks reads and writes of the credential file, their retries, and what the file contains.
struct FileAccess: Hashable, Sendable {
  var read = ReadRetry()
  /// Tracks writes and removals, and files that are set aside. The store runs one operation at a time, in order.
  var write = WriteRetry()
  /// The grant on disk, or `nil` if no grant is known to be there.
  private(set) var onDisk: GrantMarks?
  /// The last grant that was on disk. Copies may exist elsewhere, even if Hearth has removed the file.
  private(set) var lastSeen: GrantMarks?
  private(set) var storeChange = StoreChange.none
  /// Whether a sign-out revokes the grant that it removes.
  var revokesRemoved = true
  /// Whether the grant or the store has changed since the write began, so the grant has to be written again.
  private var isWriteOutdated = false
  /// Whether the store has found a grant from another program that has not been read yet.
  private(set) var isSuperseded = false
  /// Whether the store may have loaded its key since the key was last wiped.
  private var mayHoldKey = false

  enum StoreChange {
    case none
    /// The old store is still busy and must not start anything new.
    case due
    /// The new store has neither read nor written a grant yet, so `onDisk` still describes the old store.
    case made
  }

  /// Schedules the replacement of the store. If a grant is being written to the old store, it is then written to the
  /// new store, too.
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

  /// Records the grant that the store's file contains, or `nil` if it contains none.
  mutating func noteContent(_ marks: GrantMarks?) {
    if storeChange == .made { storeChange = .none }
    onDisk = marks
    lastSeen = marks ?? lastSeen
  }

  /// Returns whether the grant in memory is not known to have been in the file. If so, a missing file does not mean
  /// that the grant was removed.
  func mayLack(_ active: ActiveGrant) -> Bool { onDisk == nil || storeChange == .made && !active.isStored }

  /// Returns whether a grant in the file was there before the grant in memory, which still has to be written, or is a
  /// copy of such a grant with another access token.
  func isOlder(_ marks: GrantMarks, than active: ActiveGrant) -> Bool {
    let isCopy = lastSeen?.spendable == marks.spendable && marks.spendable != GrantMarks(active.grant).spendable
    return !active.isStored && (marks == onDisk || isCopy)
  }

  /// Whether the file is idle: no read is in progress or requested, and no write is in progress.
  var isQuiet: Bool { !read.isUnderWay && !read.isRequested && !write.isUnderWay }

  /// Starts reading the credential. If `isRemembered` is false, starts reading the account's saved state instead,
  /// which must be read first.
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

  /// Marks a write in progress as outdated, so that the grant is written again.
  mutating func invalidateWrite() { isWriteOutdated = true }

  /// Returns whether the grant that was written is the one in memory.
  mutating func grantWritten(
    _ result: Result<Void, AccessFailure>, at now: Timestamp, _ random: inout SeededGenerator
  ) -> Bool {
    switch result {
    case .success:
      write.succeeded()
      return !isWriteOutdated
    case .failure(let accessFailure):
      write.failed(accessFailure, at: now, share: random.share())
      return false
    }
  }

  mutating func beginEnd(_ record: EndRecord) -> [SessionAction] {
    write.begin()
    return [
      record.reason == .signedOut
        ? .remove(record, fingerprint: onDisk?.accessToken, revokes: revokesRemoved) : .writeEnd(record)
    ]
  }

  /// Handles the result of writing an end or removing a credential. Returns false if neither file records the end and
  /// the session is still `ending`, so the end has to be written again. If one file records it, a later read updates
  /// the other.
  mutating func endWritten(
    _ result: Result<Void, EndNotWritten>, isEnding: Bool, at now: Timestamp, _ random: inout SeededGenerator
  ) -> Bool {
    write.end()
    switch result {
    case .success:
      write.succeeded()
      read.succeeded()
      noteContent(nil)
    case .failure(.nowhere(let accessFailure)) where isEnding:
      write.failed(accessFailure, at: now, share: random.share())
      return false
    case .failure(.nowhere(let accessFailure)), .failure(.partly(let accessFailure)):
      write.failedWithoutRetry(accessFailure)
      read.failed(at: now)
    }
    return true
  }

  /// Returns whether the grant can be wiped from memory without losing tokens, because its tokens are on disk, even if
  /// a write of its other details has failed.
  func holdsTokens(of active: ActiveGrant) -> Bool {
    active.isStored
      || isQuiet && active.accessFailure == nil && write.failures > 0 && onDisk == GrantMarks(active.grant)
  }

  /// Records that the store may have a key again, because the user may have entered the passphrase.
  mutating func keyMayHaveCome() { mayHoldKey = true }

  /// Wipes the store's key, if the store may have one.
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

/// Decides when to read the credential and when to retry.
struct ReadRetry: Hashable, Sendable {
  /// Whether a read is in progress. Initially true, because a session begins by reading the account's saved state.
  private(set) var isUnderWay = true
  private(set) var isRequested = false
  private(set) var retryAt: Timestamp?
  /// The number of failures since the last success.
  private var failures = 0

  mutating func request() { isRequested = true }

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

  /// Schedules a retry after 0.3 s, doubling up to 30 s. Retries never stop, because nothing reports when a locked
  /// folder becomes readable.
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

/// Decides when to retry a failed write.
struct WriteRetry: Hashable, Sendable {
  private static let policy = RetryPolicy(initial: .milliseconds(500), max: .seconds(30))

  /// The number of operations that the store has not finished.
  private var underWay = 0
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

  /// Records a failure without scheduling a retry, because a later read completes the operation.
  mutating func failedWithoutRetry(_ accessFailure: AccessFailure) { lastFailure = accessFailure }

  /// Resets the failures after a write has succeeded or is no longer needed.
  mutating func succeeded() {
    failures = 0
    retryAt = nil
    lastFailure = nil
  }

  mutating func retryNow() { retryAt = nil }

  /// Returns whether a write can start: no other write is in progress, and no retry is scheduled for later.
  func mayBegin(at now: Timestamp) -> Bool { !isUnderWay && retryAt.map { $0 <= now } ?? true }

  /// The time of the next retry. `nil` if no retry is scheduled or a write is in progress.
  var wakeAt: Timestamp? { isUnderWay ? nil : retryAt }

  mutating func move(by step: Duration) { retryAt = retryAt.map { $0 + step } }
}
