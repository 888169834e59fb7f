/// The items of an account that got a 401 while no other token was available. Only these items wait. Other items are
/// still sent with the same token, until a second URL refuses that token.
struct RefusedItems {
  private struct Hold {
    /// The end of the wait, or `nil` if the wait is over.
    var until: Timestamp?
    var failures = 0
  }

  private var holds: [Int64: Hold] = [:]
  /// The URLs, without queries, that have refused the token since an API last accepted it.
  private var places: Set<String> = []

  /// Holds the delivery's item for the time that `retry` and `retryAfter` specify. Returns false, without holding the
  /// item, if another URL has also refused the token.
  mutating func hold(
    _ delivery: Delivery, _ retry: RetryPolicy, retryAfter: Duration?, at now: Timestamp, random: Double
  ) -> Bool {
    places.insert(String(delivery.item.url.prefix { $0 != "?" }))
    if places.count > 1 { return false }
    let failures = (holds[delivery.number]?.failures ?? 0) + 1
    let wait = retry.wait(failures: failures, retryAfter: retryAfter, random: random)
    holds[delivery.number] = Hold(until: now + wait, failures: failures)
    return true
  }

  var held: Set<Int64> { Set(holds.filter { $0.value.until != nil }.keys) }

  /// The time at which the next held item may be retried, or `nil` if no item is held.
  var nextAt: Timestamp? { holds.values.compactMap(\.until).min() }

  /// Ends the holds that have expired, and returns whether any hold has expired.
  mutating func endHolds(at now: Timestamp) -> Bool {
    guard let nextAt, nextAt <= now else { return false }
    for (number, hold) in holds where hold.until.map({ $0 <= now }) ?? false { holds[number]?.until = nil }
    return true
  }

  mutating func accepted() { places = [] }

  /// Forgets an item after an outcome other than `released`.
  mutating func settled(_ number: Int64) { holds[number] = nil }

  mutating func shift(by shift: Duration) {
    for (number, hold) in holds { holds[number]?.until = hold.until.map { $0 + shift } }
  }
}
