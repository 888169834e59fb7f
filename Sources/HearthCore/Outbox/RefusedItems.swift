/// The items of an account that an API answered with 401 while no other token was available. Only they wait: other
/// items are sent with the token until a second place refuses it.
struct RefusedItems {
  private struct Hold {
    /// `nil` if the item may be tried again.
    var until: Timestamp?
    var failures = 0
  }

  private var holds: [Int64: Hold] = [:]
  /// The URLs that have refused the token since it was last accepted.
  private var places: Set<String> = []

  /// Holds the item of a delivery for as long as `retry` says. Returns false if another place refuses the token too.
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

  /// The items that wait.
  var held: Set<Int64> { Set(holds.filter { $0.value.until != nil }.keys) }

  /// When the next one may be tried again. `nil` if none waits.
  var nextAt: Timestamp? { holds.values.compactMap(\.until).min() }

  /// Ends the holds that have lasted long enough. Returns whether there were any.
  mutating func endHolds(at now: Timestamp) -> Bool {
    guard let nextAt, nextAt <= now else { return false }
    for (number, hold) in holds where hold.until.map({ $0 <= now }) ?? false { holds[number]?.until = nil }
    return true
  }

  /// Called when the token was accepted somewhere.
  mutating func accepted() { places = [] }

  /// Called when an item had another outcome.
  mutating func settled(_ number: Int64) { holds[number] = nil }

  mutating func shift(by shift: Duration) {
    for (number, hold) in holds { holds[number]?.until = hold.until.map { $0 + shift } }
  }
}
