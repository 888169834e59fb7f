/// Counts of what happened.
struct Statistics: Codable, Sendable {
  var tokenCalls = 0
  /// By `success`, the `error` that was answered, or `fault`.
  var tokenOutcomes: [String: Int] = [:]
  var tokenCallsInFlight = 0
  var maxTokenCallsInFlight = 0
  /// Successful ones by subject.
  var refreshes: [String: Int] = [:]
  /// Rotated tokens that were taken once more inside the grace window.
  var graceReuses = 0
  /// Rotated tokens that came too late and cost their family.
  var reuseDetected = 0
  var revocations = 0
  var apiRequests = 0
  var replays = 0
  var keyConflicts = 0
  /// Answers with status 401, of the API and of /userinfo.
  var unauthorized = 0

  mutating func tokenCallBegan() {
    tokenCalls += 1
    tokenCallsInFlight += 1
    maxTokenCallsInFlight = max(maxTokenCallsInFlight, tokenCallsInFlight)
  }

  mutating func reset() {
    let inFlight = tokenCallsInFlight
    self = Statistics()
    tokenCallsInFlight = inFlight
    maxTokenCallsInFlight = inFlight
  }
}
