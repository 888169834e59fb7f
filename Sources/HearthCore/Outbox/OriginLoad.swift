/// What is claimed for one origin of an account and has not ended.
///
/// Each origin has places of its own, and a request that takes long makes room for others up to a larger limit: one that
/// hangs keeps waiting neither other accounts, nor other origins, nor (before there are very many) other lanes.
struct OriginLoad {
  struct Count {
    private(set) var all = 0
    private(set) var slow = 0

    mutating func add(_ number: Int, isSlow: Bool) {
      all += number
      if isSlow { slow += number }
    }

    /// How many more there may be, where up to `most` of them are quick, and `mostSlow` more are slow.
    func room(_ most: Int, slow mostSlow: Int) -> Int { max(min(most - (all - slow), most + mostSlow - all), 0) }
  }

  /// Requests under way, or about to be. Those that wait for the cause of a 401 are not among them: others may tell it.
  var lanes = Count()
  var unordered = Count()
  /// Deliveries whose last request got no response.
  var unanswered = Count()
  /// The content of all deliveries in memory.
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

  /// When the next request counts as slow, and makes room for others.
  func nextSlowAt(after now: Timestamp) -> Timestamp? {
    senders.values.compactMap(\.slowAt).filter { $0 > now }.min()
  }
}
