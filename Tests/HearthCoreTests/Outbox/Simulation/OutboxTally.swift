/// What happened in many histories: a world in which nothing happens proves nothing.
struct OutboxTally {
  var histories = 0
  var requests = 0
  var crashes = 0
  var powerLosses = 0
  var stops = 0
  var calls = 0
  var failures = 0
  var revoked = 0
  var unwritten = 0
  var flushes = 0
  var states: [String: Int] = [:]

  static func += (sum: inout OutboxTally, one: OutboxTally) {
    sum.histories += 1
    sum.requests += one.requests
    sum.crashes += one.crashes
    sum.powerLosses += one.powerLosses
    sum.stops += one.stops
    sum.calls += one.calls
    sum.failures += one.failures
    sum.revoked += one.revoked
    sum.unwritten += one.unwritten
    sum.flushes += one.flushes
    sum.states.merge(one.states) { $0 + $1 }
  }
}
