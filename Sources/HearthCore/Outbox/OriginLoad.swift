/// Counts the deliveries that are claimed for one origin of an account but not settled.
///
/// Each origin has its own places, and slow requests count against a second, larger limit. So a hanging request delays
/// neither other accounts nor other origins nor, unless there are very many, other lanes.
struct OriginLoad {
  struct Count {
    private(set) var all = 0
    private(set) var slow = 0

    mutating func add(_ number: Int, isSlow: Bool) {
      all += number
      if isSlow { slow += number }
    }

    /// How many more may start, if up to `most` of them may be quick and `mostSlow` more may be slow.
    func room(_ most: Int, slow mostSlow: Int) -> Int { max(min(most - (all - slow), most + mostSlow - all), 0) }
  }

  /// Requests under way or about to start. Senders that wait for the cause of a 401 do not count.
  var lanes = Count()
  var unordered = Count()
  /// Deliveries whose last request got no response.
  var unanswered = Count()
  /// The bytes of content of all deliveries in memory.
  var bytes = Count()
  /// Deliveries that are claimed and not begun.
  var unsent = (lanes: 0, unordered: 0)

  mutating func add(_ sender: Sender, at now: Timestamp) {
    let isSlow = sender.isSlow(at: now)
    if !sender.isJudging {
      if sender.kind == .lanes { lanes.add(1, isSlow: isSlow) } else { unordered.add(1, isSlow: isSlow) }
    }
    if sender.current?.wasUnanswered == true { unanswered.add(1, isSlow: isSlow) }
    bytes.add(sender.current?.item.bytes ?? 0, isSlow: isSlow)
    addUnsent(sender.rest, sender.kind)
  }

  mutating func add(_ claim: LaneClaim) {
    if claim.deliveries.first?.wasUnanswered == true { unanswered.add(1, isSlow: false) }
    addUnsent(claim.deliveries[...], claim.kind)
  }

  private mutating func addUnsent(_ deliveries: ArraySlice<Delivery>, _ kind: OutboxKinds) {
    bytes.add(deliveries.bytes, isSlow: false)
    if kind == .lanes { unsent.lanes += deliveries.count } else { unsent.unordered += deliveries.count }
  }
}

extension OutboxAccount {
  func loads(at now: Timestamp) -> [Origin: OriginLoad] {
    var loads: [Origin: OriginLoad] = [:]
    for sender in senders.values {
      if let origin = sender.origin { loads[origin, default: OriginLoad()].add(sender, at: now) }
    }
    for claim in queue {
      if let origin = claim.origin { loads[origin, default: OriginLoad()].add(claim) }
    }
    return loads
  }

  /// When the next request starts to count as slow and makes room for others.
  func nextSlowAt(after now: Timestamp) -> Timestamp? {
    senders.values.compactMap(\.slowAt).filter { $0 > now }.min()
  }
}

/// How many deliveries are claimed ahead of the senders: none while requests are slow, up to 128 while they are fast,
/// so that one transaction serves many.
struct ReadAhead {
  private static let window = Duration.milliseconds(500)
  private static let most = 128
  private static let quick = Duration.milliseconds(15)

  private var windowStart: Timestamp?
  private var inWindow = 0
  /// The number of quick requests in a row. With slow commits, the window would make them look slow.
  private var quickInARow = 0
  private(set) var limit = 0

  mutating func finished(at now: Timestamp, after duration: Duration) {
    quickInARow = duration < Self.quick ? quickInARow + 1 : 0
    if let windowStart, now - windowStart <= Self.window, now >= windowStart {
      inWindow += 1
    } else {
      if inWindow < 16, quickInARow < 32 { limit = 0 }
      (windowStart, inWindow) = (now, 1)
    }
    if inWindow >= 128 {
      limit = Self.most
    } else if inWindow >= 32 || quickInARow >= 32 {
      limit = max(limit, 32)
    }
  }
}
