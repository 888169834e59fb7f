import Glibc
import HearthCore
import HearthLinux
import HearthStorage

/// An outbox with a number of waiting items. A fifth of them is in a lane of another account, which is not used. Half
/// of the others are in a hundred lanes, a quarter is unordered, and a quarter is unordered and not due yet.
final class FilledOutbox {
  enum Operation: String, CaseIterable {
    case enqueue = "enqueue, one per commit"
    case enqueueMany = "enqueue, 63 per commit"
    case complete = "complete 64 and claim 64"
    case prune = "prune 64 delivered items"
    case firstPage = "list, first page of 100"
    case middlePage = "list, middle page"
    case middlePageOfAll = "list, middle page of all accounts"
    case lanePage = "list, middle page of a lane"
    case pendingPage = "list, middle page of pending items"
    case waitingPage = "list, first page of waiting items"
    case item = "get"
    case stats = "stats"
  }

  private static let accounts = (AccountName("work"), AccountName("other"))
  /// The discard port, on which nothing listens.
  private static let base = "http://127.0.0.1:9"
  /// Settings without limits.
  private static let settings = {
    var settings = OutboxSettings()
    (settings.maxItems, settings.maxBytes) = (.max, .max)
    return settings
  }()

  static let configuration = """
    [accounts.work]
    type = "oauth2"
    token_endpoint = "\(base)/token"
    client_id = "bench"
    subject = "bench"
    api_origins = ["\(base)"]

    [accounts.other]
    type = "oauth2"
    token_endpoint = "\(base)/token"
    client_id = "bench"
    subject = "bench"
    api_origins = ["\(base)"]

    [outbox]
    max_items = 10000000
    max_bytes = "64GiB"

    """

  let folder: String
  private let store: SQLiteOutboxStore
  private let subject: Subject
  private let url: HTTPURL
  private let account: AccountName
  private let other: AccountName
  private let count: Int
  private var made = 0
  private var claims: [LaneClaim] = []
  private var sampleIDs: [String] = []

  init(in folder: String, count: Int) async throws {
    guard let account = Self.accounts.0, let other = Self.accounts.1 else {
      throw BenchFailure(description: "An account has no valid name.")
    }
    self.folder = folder
    self.account = account
    self.other = other
    self.count = count
    mkdir("\(folder)/state", 0o700)
    store = try SQLiteOutboxStore.open(at: "\(folder)/state/outbox.sqlite", clock: try SystemClock()).store
    subject = Subject(issuer: Self.base, id: "bench")
    url = try HTTPURL(Self.base + "/api/notes")
    for name in [account, other] {
      _ = try await store.bind(name, to: subject, formerly: nil, adopts: true, limit: 1)
    }
    while made < count { try await add(min(5000, count - made), someLater: true) }
  }

  private static var now: Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  private func add(_ number: Int, someLater: Bool = false) async throws {
    let now = Self.now
    let items = (0..<number).map { _ in
      made += 1
      let id = OutboxItem.makeID(at: now, random: (.random(in: 0...UInt64.max), .random(in: 0...UInt64.max)))
      if made.isMultiple(of: max(count / 100, 1)) { sampleIDs.append(id) }
      let isOthers = someLater && made % 5 == 4
      let isLater = someLater && made % 4 == 3
      let draft = OutboxDraft(
        account: isOthers ? other : account, method: "POST", url: url.description,
        headers: [APIRequest.Header(name: "Content-Type", value: "text/plain")],
        body: Array(repeating: UInt8(ascii: "x"), count: 200), lane: isOthers ? "long" : "lane \(made % 100)",
        isUnordered: made % 4 >= 2 && !isOthers,
        notBefore: isLater && !isOthers ? now + .seconds(86_400 + Int64(made % 1000)) : nil)
      return NewOutboxItem(id: id, draft: draft, url: url, subject: subject)
    }
    _ = try await store.enqueue(items, within: Self.settings)
  }

  func perform(_ operation: Operation) async throws {
    switch operation {
    case .enqueue: try await add(1)
    case .enqueueMany: try await add(63)
    case .complete: try await complete()
    case .prune:
      var settings = Self.settings
      (settings.maxItems, settings.keepDelivered, settings.keepDead) = (0, .zero, .seconds(86_400))
      _ = try await store.prune(keeping: settings, limit: 64, by: Self.now)
    case .firstPage: try await list(OutboxQuery(account: account))
    case .middlePage: try await list(OutboxQuery(account: account, cursor: middle))
    case .middlePageOfAll: try await list(OutboxQuery(cursor: middle))
    case .lanePage: try await list(OutboxQuery(account: other, lane: "long", cursor: "\(count / 2)"))
    case .pendingPage: try await list(OutboxQuery(account: account, state: .pending, cursor: middle))
    case .waitingPage: try await list(OutboxQuery(account: account, state: .waiting))
    case .item: _ = try await store.item(sampleIDs.randomElement() ?? "")
    case .stats: _ = try await store.stats(of: account)
    }
  }

  private var middle: String { "\(made - count / 2)" }

  private func complete() async throws {
    let demand = OutboxDemand(
      account: account, subject: subject,
      rooms: [url.origin: OutboxDemand.Room(lanes: 32, unordered: 32, takesFollowers: true)],
      configured: [url.origin], expiry: .agreed(Self.now), policy: DeliveryPolicy(OutboxSettings()))
    let settled = claims.flatMap { claim in
      claim.deliveries.map {
        Settlement(epoch: claim.epoch, number: $0.number, outcome: .delivered(status: 200))
      }
    }
    let exchange = try await store.exchange(settled, releasing: [], claiming: [demand])
    claims = exchange.claimed[account]?.claims ?? []
    let deliveries = claims.flatMap { claim in claim.deliveries.map { (claim.epoch, $0.number) } }
    guard deliveries.count == 64 else {
      throw BenchFailure(description: "Only \(deliveries.count) items could be claimed.")
    }
    for (epoch, number) in deliveries where try !store.begin(number, of: epoch) {
      throw BenchFailure(description: "A claimed item cannot be sent.")
    }
  }

  private func list(_ query: OutboxQuery) async throws {
    let page = try await store.list(query)
    guard page.items.count >= 90 else { throw BenchFailure(description: "A page is too short: \(query)") }
  }
}
