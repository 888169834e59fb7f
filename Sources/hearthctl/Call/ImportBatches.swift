import HearthClient
import HearthControl
import HearthCore

/// Sends lines of an export to the daemon in batches. The daemon stores a batch completely or not at all. If the daemon
/// refuses a batch because of an item, the lines are sent again one by one, so that only invalid lines are skipped.
struct ImportBatches: ~Copyable {
  private static let most = 100
  /// The size limit of a batch in bytes. A single line may be longer.
  private static let mostBytes = 512 << 10

  private(set) var counts = ImportCounts()
  private var daemon: ControlClient
  private let isDryRun: Bool
  private let isUnsent: Bool
  private var waiting: [(number: Int, item: JSON)] = []
  private var bytes = 0
  /// The ids seen in a dry run. The daemon stores nothing in a dry run, so it cannot detect duplicates across
  /// batches. `keys` contains the content for each idempotency key.
  private var seen: Set<String> = []
  private var keys: [[JSON?]: [JSON?]] = [:]
  private var keptBytes = 0

  init(_ daemon: consuming ControlClient, isDryRun: Bool, isUnsent: Bool) {
    self.daemon = daemon
    (self.isDryRun, self.isUnsent) = (isDryRun, isUnsent)
  }

  /// The number of the first line that the daemon has not answered.
  var firstUnsent: Int? { waiting.first?.number }

  mutating func add(_ line: [UInt8], number: Int, _ options: DaemonOptions) throws {
    if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return }
    let item: JSON
    do {
      item = try JSON(parsing: line)
    } catch {
      return refuse(number, "Invalid JSON: \(error).")
    }
    guard let object = item.object else { return refuse(number, "An item must be a JSON object.") }
    if let state = object["state"]?.string.flatMap(OutboxItem.State.init(rawValue:)), !state.keepsContent {
      counts.ended += 1
      return
    }
    if isDryRun, isSeen(object, number) { return }
    if bytes + line.count > Self.mostBytes || waiting.count == Self.most { try send(options) }
    waiting.append((number, isUnsent ? .object(Self.unsent(object)) : item))
    bytes += line.count
  }

  /// Returns whether a dry run has already seen this item or its idempotency key. If so, counts the line as known, or
  /// refuses it if the content differs.
  private mutating func isSeen(_ object: JSONObject, _ number: Int) -> Bool {
    if let id = object["id"]?.string, !seen.insert(id).inserted {
      counts.known += 1
      return true
    }
    guard object["idempotencyKey"]?.string != nil else { return false }
    let key = ["account", "issuer", "subject", "idempotencyKey"].map { object[$0] }
    let content = ["method", "url", "headers", "body", "bodyBase64"].map { object[$0] }
    guard let known = keys[key] else {
      keys[key] = content
      return false
    }
    if known == content {
      counts.known += 1
    } else {
      refuse(number, "Another item with different content has this idempotency key.")
    }
    return true
  }

  /// Returns the item as if it had just been exported. If the item was in flight, its result is unknown since the
  /// original export.
  private static func unsent(_ object: JSONObject) -> JSONObject {
    var object = object
    if object["state"] == .string(OutboxItem.State.inFlight.rawValue), object["unknownSince"] == nil {
      object["unknownSince"] = object["exportedAt"]
    }
    object["exportedAt"] = .string(Timestamp.now.description)
    return object
  }

  mutating func send(_ options: DaemonOptions) throws {
    if waiting.count > 1, try keep(waiting.map(\.item)) == nil { waiting = [] }
    while let (number, item) = waiting.first {
      if let refusal = try keep([item]) {
        refuse(number, refusal.message.replacing("items[0].", with: "").replacing("items[0]: ", with: ""))
        // Connect again, because the daemon closes the connection after a line that is too long.
        if refusal.kind == .parseError { daemon = try options.connect() }
      }
      waiting.removeFirst()
    }
    bytes = 0
  }

  /// Imports items. Returns `nil` on success. If the daemon refuses an item, none of the items are stored, and the
  /// result is the daemon's error.
  private mutating func keep(_ items: [JSON]) throws -> RPCError? {
    var params: JSONObject = ["items": .array(items)]
    if isDryRun {
      params["dryRun"] = true
      params["itemsBefore"] = JSON(counts.imported)
      params["bytesBefore"] = JSON(keptBytes)
    }
    let json: JSON
    do {
      json = try daemon.call(ImportItems.name, params)
    } catch {
      guard case ControlClient.Failure.refused(let refusal) = error, refusal.isAboutItems else { throw error }
      return refusal
    }
    guard let receipt = ImportReceipt(json: json) else {
      throw ControlClient.Failure.unknownResult(method: ImportItems.name)
    }
    keptBytes += receipt.bytes
    for item in receipt.items {
      guard !item.isDuplicate else {
        counts.known += 1
        continue
      }
      counts.imported += 1
      if item.state == .held { counts.held += 1 }
    }
    return nil
  }

  private mutating func refuse(_ number: Int, _ why: String) {
    counts.refused += 1
    ProgressLine.clear()
    Output.note("line \(number): \(why)")
  }
}

extension RPCError {
  /// Whether the error concerns a single item, so that other items may still be accepted.
  fileprivate var isAboutItems: Bool {
    let kinds: [Kind?] = [.invalidParams, .unknownAccount, .originNotAllowed, .idempotencyConflict, .parseError]
    return kinds.contains(kind)
  }
}
