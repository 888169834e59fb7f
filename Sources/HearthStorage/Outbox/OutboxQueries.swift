/// The SQL statements that the outbox runs. All statements that search for items use an index, except `every`.
enum OutboxQueries {
  private static let columns = """
    n, id, owner, lane, position, state, reason, is_head, due_at, method, url, attempts, conflicts, created_at, \
    not_before, expires_at, next_attempt_at, unknown_since, finished_at, last_status, last_error, \
    idempotency_key, bytes, expect, replace_key, has_left, made_at, offline_answers
    """

  /// Used only by `OutboxCheck`.
  static let every = "SELECT \(columns) FROM items"

  static let byNumber = "SELECT \(columns) FROM items WHERE n = ?"
  static let byID = "SELECT \(columns) FROM items WHERE id = ?"
  static let content = "SELECT headers, body, checksum FROM contents WHERE item = ?"
  static let byKey = """
    SELECT \(columns), digest FROM items WHERE owner = ? AND idempotency_key = ? AND digest IS NOT NULL
    """
  static let digest = "SELECT digest FROM items WHERE n = ? AND digest IS NOT NULL"
  static let dropKey = "UPDATE items SET digest = NULL WHERE n = ?"
  static let pause = "INSERT OR IGNORE INTO pauses VALUES (?)"
  static let setKey = "UPDATE items SET idempotency_key = ?, digest = NULL WHERE n = ?"
  static let setChecksum = "UPDATE contents SET checksum = ? WHERE item = ?"
  /// Stops detecting an item's duplicates if its new owner (`?2`) already has an item with the same key.
  static let cedeKey = """
    UPDATE items SET digest = NULL WHERE n = ?1 AND digest IS NOT NULL AND EXISTS (
      SELECT 1 FROM items AS others
      WHERE others.owner = ?2 AND others.idempotency_key = items.idempotency_key AND others.digest IS NOT NULL)
    """
  static let byReplaceKey = """
    SELECT \(columns) FROM items WHERE owner = ? AND replace_key = ? AND state IN (0, 1, 2, 3, 5)
    """
  static let newerToReplace = """
    SELECT 1 FROM items INDEXED BY items_by_newness
    WHERE owner = ? AND replace_key = ? AND (made_at, n) > (?, ?) LIMIT 1
    """
  static let laterToReplace = """
    SELECT \(columns) FROM items INDEXED BY items_by_newness
    WHERE owner = ? AND replace_key = ? AND made_at > ? LIMIT 1
    """
  static let lastMade = "SELECT max(made_at) FROM items INDEXED BY items_by_newness WHERE owner = ? AND replace_key = ?"
  static let byState = """
    SELECT \(columns) FROM items WHERE owner = ? AND state = ? AND position > ? ORDER BY position LIMIT ?
    """
  static let placesByState = """
    SELECT position, n FROM items WHERE owner = ? AND state = ? AND position > ? ORDER BY position LIMIT ?
    """
  static let placesByLane = """
    SELECT position, n FROM items WHERE owner = ? AND lane = ? AND state = ? AND position > ? ORDER BY position LIMIT ?
    """
  static let firstOfLane = """
    SELECT n, position, is_head FROM items WHERE owner = ? AND lane = ? AND state = ? ORDER BY position LIMIT 1
    """
  static let activeInLane = "SELECT 1 FROM items WHERE owner = ? AND lane = ? AND state IN (0, 1, 2) LIMIT 1"
  static let placeInLane = """
    SELECT min(position) FROM items WHERE owner = ? AND lane = ? AND state = ? AND position > ?
    """
  static let followers = """
    SELECT \(columns) FROM items WHERE owner = ? AND lane = ? AND state = 0 AND position > ? AND position < ?
    ORDER BY position LIMIT ?
    """
  /// The items in one state between two positions of a lane.
  static let window = """
    SELECT \(columns) FROM items WHERE owner = ? AND lane = ? AND state = ? AND position >= ? AND position <= ?
    ORDER BY position
    """
  static let oldest = """
    SELECT n, created_at FROM items INDEXED BY items_by_age WHERE owner = ? AND state IN (0, 2) ORDER BY created_at
    """

  static let nextOrigin = "SELECT min(origin) FROM items WHERE owner = ? AND is_head = 1 AND origin > ?"
  /// The parameter is 1 to include items whose last request got no response.
  private static let isWanted = "(? OR last_status IS NOT NULL OR unknown_since IS NULL)"
  static let fresh = """
    SELECT \(columns) FROM items
    WHERE owner = ? AND origin = ? AND (lane IS NULL) = ? AND is_head = 1 AND due_at = 0 AND n > ? AND bytes <= ?
      AND \(isWanted)
    ORDER BY n LIMIT ?
    """
  static let due = """
    SELECT \(columns) FROM items
    WHERE owner = ? AND origin = ? AND (lane IS NULL) = ? AND is_head = 1 AND (due_at, n) > (?, ?) AND due_at <= ?
      AND bytes <= ? AND \(isWanted)
    ORDER BY due_at, n LIMIT ?
    """
  /// Adds 0 because SQLite would otherwise compare the parameter with the partial index's condition and prepare the
  /// statement again for each value.
  static let nextDue = """
    SELECT min(due_at) FROM items
    WHERE owner = ? AND origin = ? AND (lane IS NULL) = ? AND is_head = 1 AND due_at > ? + 0
    """
  /// Finds a due head whose last request got no response.
  static let unanswered = """
    SELECT n FROM items INDEXED BY items_unknown
    WHERE owner = ? AND origin = ? AND unknown_since IS NOT NULL AND state < 3 AND is_head = 1 AND last_status IS NULL
      AND due_at <= ?
    LIMIT 1
    """
  private static let isRetrying = "is_head = 1 AND due_at > 0 AND (not_before IS NULL OR not_before < due_at)"
  static let retrying = """
    SELECT \(columns) FROM items INDEXED BY items_retrying
    WHERE owner = ? AND origin = ? AND \(isRetrying) AND due_at > ? ORDER BY due_at LIMIT ?
    """
  static let shift = """
    UPDATE items INDEXED BY items_retrying SET due_at = max(due_at + ?1, 1), next_attempt_at = max(next_attempt_at + ?1, 1)
    WHERE owner = ?2 AND origin = ?3 AND \(isRetrying)
    """
  /// Shifts the times of claimed heads, which become due again when their claims end.
  static let shiftClaimed = """
    UPDATE items SET due_at = max(due_at + ?1, 1), next_attempt_at = max(next_attempt_at + ?1, 1)
    WHERE n IN (SELECT head FROM claims) AND due_at > 0 AND (not_before IS NULL OR not_before < due_at)
    """
  /// Makes items due whose last request could not reach the server. Their `due_at`, the time of that request, only
  /// orders them, and is in the future if the clock was set back since.
  static let free = """
    UPDATE items INDEXED BY items_retrying SET due_at = 0
    WHERE owner = ? AND origin = ? AND \(isRetrying) AND due_at > ? AND next_attempt_at > due_at
    """
  static let cap = """
    UPDATE items INDEXED BY items_retrying SET due_at = ?1, next_attempt_at = ?1
    WHERE owner = ?2 AND origin = ?3 AND \(isRetrying) AND due_at > ?1
    """
  /// Shifts the times since which results have been unknown.
  static let shiftUnknown = """
    UPDATE items INDEXED BY items_unknown SET unknown_since = max(unknown_since + ?1, 1)
    WHERE unknown_since IS NOT NULL AND state < 3
    """
  static let clampUnknown = """
    UPDATE items INDEXED BY items_unknown SET unknown_since = ?1
    WHERE unknown_since IS NOT NULL AND state < 3 AND unknown_since > ?1
    """
  static let shiftClaims = "UPDATE claims SET claimed_at = max(claimed_at + ?1, 1)"
  static let expired = """
    SELECT \(columns) FROM items
    WHERE expires_at IS NOT NULL AND state < 3 AND expires_at <= ? ORDER BY expires_at LIMIT ?
    """
  static let expiring = """
    SELECT n, expires_at FROM items WHERE expires_at IS NOT NULL AND state < 3 ORDER BY expires_at
    """
  static let finished = """
    SELECT \(columns) FROM items
    WHERE state = ? AND finished_at IS NOT NULL AND finished_at < ? ORDER BY finished_at LIMIT ?
    """
  static let firstFinished = "SELECT min(finished_at) FROM items WHERE state = ? AND finished_at IS NOT NULL"

  /// Moves future times, left by a clock that was ahead, to the present.
  static let clampFinished = """
    UPDATE items SET finished_at = ?1 WHERE state = ?2 AND finished_at IS NOT NULL AND finished_at > ?1
    """

  static let insert = """
    INSERT INTO items (id, owner, lane, position, state, is_head, due_at, method, url, origin, attempts, conflicts,
      created_at, not_before, expires_at, next_attempt_at, idempotency_key, digest, replace_key, bytes, expect,
      reason, unknown_since, has_left, finished_at, last_status, last_error, made_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """
  static let insertContent = "INSERT INTO contents (item, headers, body, checksum) VALUES (?, ?, ?, ?)"
  static let deliver = """
    UPDATE items SET state = 4, attempts = ?, next_attempt_at = NULL, finished_at = ?, last_status = ?,
      last_error = ? WHERE n = ?
    """
  static let update = """
    UPDATE items SET owner = ?, position = ?, state = ?, reason = ?, is_head = ?, due_at = ?, attempts = ?,
      conflicts = ?, offline_answers = ?, not_before = ?, expires_at = ?, next_attempt_at = ?, unknown_since = ?,
      has_left = ?, finished_at = ?, last_status = ?, last_error = ? WHERE n = ?
    """
  static let setHead = "UPDATE items SET is_head = ? WHERE n = ?"
  static let delete = "DELETE FROM items WHERE n = ?"
  static let deleteContent = "DELETE FROM contents WHERE item = ?"

  static let claim = """
    INSERT INTO claims (epoch, owner, lane, head, first, last, claimed_at) VALUES (?, ?, ?, ?, ?, ?, ?)
    """
  static let everyClaim = "SELECT epoch, owner, lane, head, first, last, claimed_at FROM claims ORDER BY epoch"
  static let cutClaim = "UPDATE claims SET last = ? WHERE epoch = ?"
  static let moveClaim = "UPDATE claims SET owner = ? WHERE epoch = ?"
  static let endClaim = "DELETE FROM claims WHERE epoch = ?"
}
