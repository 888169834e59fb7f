/// The load that one account's claimed but unsettled deliveries put on one origin.
///
/// Each origin has its own limits, and slow requests in lanes count only towards a second, larger limit. Hanging
/// requests therefore never delay other accounts or origins, and they delay other lanes only if there are very many of
/// them.
struct OriginLoad {
  struct Count {
    private(set) var all = 0
    private(set) var slow = 0

    mutating func add(_ number: Int, isSlow: Bool) {
      all += number
      if isSlow { slow += number }
    }

    /// Returns how many more requests may start, given the limits for normal and slow requests.
    func room(_ most: Int, slow mostSlow: Int) -> Int { max(min(most - (all - slow), most + mostSlow - all), 0) }
  }

  /// The requests that are in flight or about to start. Senders that wait for the cause of a 401 do not count.
  var lanes = Count()
  var unordered = Count()
  var unanswered = Count()
  /// The size of all deliveries in memory, in bytes.
  var bytes = Count()
  /// The number of deliveries that are claimed but not started.
  var unsent = (lanes: 0, unordered: 0)

  mutating func add(_ sender: Sender, at now: Timestamp) {
    let isSlow = sender.isSlow(at: now)
    if !sender.isJudging {
      if sender.kind == .lanes { lanes.add(1, isSlow: isSlow) } else { unordered.add(1, isSlow: isSlow) }
    }
    if sender.current?.progress.isUnanswered == true { unanswered.add(1, isSlow: isSlow) }
    bytes.add(sender.current?.item.bytes ?? 0, isSlow: isSlow)
    addUnsent(sender.rest, sender.kind)
  }

  mutating func add(_ claim: LaneClaim) {
    if claim.deliveries.first?.progress.isUnanswered == true { unanswered.add(1, isSlow: false) }
    addUnsent(claim.deliveries[...], claim.kind)
  }

  private mutating func addUnsent(_ deliveries: ArraySlice<Delivery>, _ kind: OutboxKinds) {
    bytes.add(deliveries.reduce(0) { $0 + $1.item.bytes }, isSlow: false)
    if kind == .lanes { unsent.lanes += deliveries.count } else { unsent.unordered += deliveries.count }
  }
}

/// Decides how many deliveries to claim in advance. While requests are fast, up to 128 are claimed, so that one
/// transaction covers many deliveries. While requests are slow, no delivery is claimed in advance.
struct ReadAhead {
  private static let window = Duration.milliseconds(500)
  private static let most = 128
  private static let quick = Duration.milliseconds(15)

  private var windowStart: Timestamp?
  private var inWindow = 0
  /// The number of consecutive quick requests. Unlike `inWindow`, it does not depend on the speed of commits.
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
