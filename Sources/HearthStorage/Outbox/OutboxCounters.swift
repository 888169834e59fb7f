internal import GRDB
internal import HearthCore

/// The owners of items, with their item counts. An owner is an account and one of its users. The counts change in the
/// same transactions as the items, so that no query has to count rows.
struct OutboxCounters: Sendable {
  struct Owner: Sendable {
    let id: Int64
    let account: AccountName
    var subject: Subject?
    var isCurrent: Bool
    /// The number of items in each state, indexed by the state's number.
    var counts: [Int]
    var bytes: Int
    /// The creation time of the oldest undelivered item. The outer optional is `nil` if it has to be looked up again.
    var oldestPendingAt: Timestamp??

    subscript(state: OutboxItem.State) -> Int { counts[state.number] }
    /// The number of items waiting for delivery.
    var undelivered: Int { self[.pending] + self[.waiting] }
  }

  private(set) var owners: [Int64: Owner] = [:]
  private var ids: [AccountName: [Subject?: Int64]] = [:]
  private var current: [AccountName: Int64] = [:]
  /// The configured accounts, or `nil` until they are known.
  var configured: Set<AccountName>?
  private(set) var lastPlace: Int64 = 0
  /// The time at which the schedule last changed.
  private(set) var scheduledAt = Timestamp(milliseconds: 0)
  /// The boot and clock steps that the schedule is based on.
  private(set) var followed: (boot: String, stepped: Duration)?
  private var changed: Set<Int64> = []
  private var isPlaceChanged = false
  /// The number of items whose content is stored.
  private(set) var keptItems = 0
  private(set) var keptBytes = 0

  /// Reads the owners, the last assigned position and the schedule's clock.
  init(_ db: Database) throws {
    let place = try db.firstRow("SELECT last, scheduled_at, boot, stepped FROM places WHERE id = 1") {
      (last: try $0.number(0), scheduledAt: try $0.number(1), boot: try $0.text(2), stepped: try $0.number(3))
    }
    guard let place else {
      throw OutboxStoreFailure.broken("The outbox is damaged: the table \"places\" is empty.")
    }
    lastPlace = place.last
    scheduledAt = Timestamp(milliseconds: place.scheduledAt)
    if let boot = place.boot, -Self.mostStepped...Self.mostStepped ~= place.stepped {
      followed = (boot, .milliseconds(place.stepped))
    }
    guard 0..<Self.furthestPlace ~= lastPlace else {
      throw OutboxStoreFailure.broken("The outbox is damaged: its last position is out of range.")
    }
    let columns = Self.columns.joined(separator: ", ")
    try db.forEachRow("SELECT id, account, issuer, subject, is_current, bytes, \(columns) FROM owners") { row in
      guard let account = AccountName(try row.name(1)) else {
        throw OutboxStoreFailure.broken("The outbox is damaged: an owner has no account.")
      }
      let subject: Subject? =
        if let issuer = try row.text(2), let subject = try row.text(3) { Subject(issuer: issuer, id: subject) } else {
          nil
        }
      let counts = try Self.columns.indices.map { try row.count(6 + $0, atMost: Self.mostItems) }
      let owner = Owner(
        id: try row.number(0), account: account, subject: subject, isCurrent: try row.number(4) != 0, counts: counts,
        bytes: try row.count(5, atMost: Self.mostBytes))
      owners[owner.id] = owner
      ids[account, default: [:]][owner.subject] = owner.id
      if owner.isCurrent { current[account] = owner.id }
      keptBytes += owner.bytes
      keptItems += OutboxItem.State.byNumber.filter(\.keepsContent).reduce(0) { $0 + owner[$1] }
    }
  }

  static let columns = ["pending", "in_flight", "waiting", "held", "delivered", "dead", "cancelled", "superseded"]

  /// Larger than any real count. A damaged count above this value is clamped to it.
  static let mostItems = 1 << 40
  static let mostBytes = 1 << 48
  private static let furthestPlace: Int64 = 1 << 62
  /// Several thousand years, in milliseconds.
  private static let mostStepped: Int64 = 1 << 47

  func isOtherUser(_ owner: Owner) -> Bool {
    owner.subject == .unnamedBefore || owner.subject != nil && !owner.isCurrent && current[owner.account] != nil
  }

  /// Returns why an owner's items are shown as held, or `nil` if they are not.
  func holdReason(of owner: Owner) -> OutboxItem.Reason? {
    if isOtherUser(owner) { return .otherUser }
    return configured?.contains(owner.account) == false ? .originNotConfigured : nil
  }

  func owner(_ account: AccountName, _ subject: Subject?) -> Int64? {
    ids[account]?[subject]
  }

  mutating func madeOwner(_ account: AccountName, _ subject: Subject?, in db: Database) throws -> Int64 {
    if let id = owner(account, subject) { return id }
    try db.execute(
      sql: "INSERT INTO owners VALUES (NULL, ?, ?, ?, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)",
      arguments: [account.description, subject?.issuer, subject?.id])
    let id = db.lastInsertedRowID
    owners[id] = Owner(
      id: id, account: account, subject: subject, isCurrent: false, counts: Array(repeating: 0, count: 8), bytes: 0,
      oldestPendingAt: .some(nil))
    ids[account, default: [:]][subject] = id
    return id
  }

  /// Ensures that positions up to this one are never assigned again.
  mutating func skipPlaces(to place: Int64) {
    guard lastPlace < place else { return }
    lastPlace = place
    isPlaceChanged = true
  }

  /// Makes a schedule from another boot follow this boot's clock, because the clock's steps in between are unknown.
  mutating func opened(by clock: (boot: String, stepped: Duration)) {
    if followed?.boot != clock.boot { followed = clock }
  }

  mutating func scheduled(at moment: (now: Timestamp, stepped: Duration), boot: String) {
    (scheduledAt, followed, isPlaceChanged) = (moment.now, (boot, moment.stepped), true)
  }

  mutating func nextPlace() -> Int64 {
    lastPlace += 1
    isPlaceChanged = true
    return lastPlace
  }

  mutating func added(_ state: OutboxItem.State, bytes: Int, createdAt: Timestamp, to owner: Int64) {
    count(state, 1, bytes: bytes, of: owner)
    guard state == .pending || state == .waiting, case .some(let known) = owners[owner]?.oldestPendingAt else { return }
    owners[owner]?.oldestPendingAt = .some(min(known ?? createdAt, createdAt))
  }

  mutating func moved(_ from: OutboxItem.State, _ to: OutboxItem.State, bytes: Int, of owner: Int64) {
    count(from, -1, bytes: bytes, of: owner)
    count(to, 1, bytes: bytes, of: owner)
    owners[owner]?.oldestPendingAt = nil
  }

  mutating func removed(_ state: OutboxItem.State, bytes: Int, of owner: Int64) {
    count(state, -1, bytes: bytes, of: owner)
    owners[owner]?.oldestPendingAt = nil
  }

  mutating func remember(oldest: Timestamp?, of owner: Int64) {
    owners[owner]?.oldestPendingAt = .some(oldest)
  }

  private mutating func count(_ state: OutboxItem.State, _ difference: Int, bytes: Int, of owner: Int64) {
    owners[owner]?.counts[state.number] += difference
    changed.insert(owner)
    guard state.keepsContent else { return }
    owners[owner]?.bytes += difference * bytes
    keptItems += difference
    keptBytes += difference * bytes
  }

  /// Makes an owner the current user of its account, so that the owner's items are sent. Returns true if the current
  /// user has changed and other users' undelivered items are now held.
  mutating func makeCurrent(_ owner: Int64) -> Bool {
    guard let account = owners[owner]?.account, current[account] != owner else { return false }
    if let previous = current[account] {
      owners[previous]?.isCurrent = false
      changed.insert(previous)
    }
    owners[owner]?.isCurrent = true
    current[account] = owner
    changed.insert(owner)
    return owners.values.contains { other in
      other.account == account && isOtherUser(other) && other.undelivered > 0
    }
  }

  /// Sets or changes an owner's subject. The owner keeps its items.
  mutating func name(_ owner: Int64, _ subject: Subject, in db: Database) throws {
    guard let account = owners[owner]?.account else { return }
    try db.execute(
      sql: "UPDATE owners SET issuer = ?, subject = ? WHERE id = ?", arguments: [subject.issuer, subject.id, owner])
    ids[account]?[owners[owner]?.subject] = nil
    owners[owner]?.subject = subject
    ids[account]?[subject] = owner
  }

  /// Writes the owners, the last position and the schedule's clock if they changed in this transaction.
  mutating func write(to db: Database) throws {
    for id in changed {
      guard let owner = owners[id] else { continue }
      let statement = try db.cachedStatement(sql: Self.update)
      var arguments: [(any DatabaseValueConvertible)?] = [owner.isCurrent]
      arguments.append(contentsOf: owner.counts)
      arguments.append(owner.bytes)
      arguments.append(id)
      try statement.execute(arguments: StatementArguments(arguments))
    }
    if isPlaceChanged {
      let sql = "UPDATE places SET last = ?, scheduled_at = ?, boot = ?, stepped = ? WHERE id = 1"
      try db.cachedStatement(sql: sql).execute(
        arguments: [lastPlace, scheduledAt.milliseconds, followed?.boot, followed?.stepped.wholeMilliseconds ?? 0])
    }
    changed = []
    isPlaceChanged = false
  }

  private static let update =
    "UPDATE owners SET is_current = ?, " + columns.map { "\($0) = ?" }.joined(separator: ", ")
    + ", bytes = ? WHERE id = ?"
}
