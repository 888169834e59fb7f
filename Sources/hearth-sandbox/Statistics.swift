struct Statistics: Codable, Sendable {
  var tokenCalls = 0
  /// The number of token calls by outcome: `success`, the `error` of the response, or `fault`.
  var tokenOutcomes: [String: Int] = [:]
  var tokenCallsInFlight = 0
  var maxTokenCallsInFlight = 0
  /// The number of successful refreshes by subject.
  var refreshes: [String: Int] = [:]
  /// The number of times that a rotated token was accepted again within the grace period.
  var graceReuses = 0
  /// The number of times that a rotated token was used after the grace period, which revoked its family.
  var reuseDetected = 0
  /// The number of browser and device sign-ins that led to tokens, by subject.
  var signIns: [String: Int] = [:]
  var codesReplayed = 0
  var revocations = 0
  /// The number of sessions that clients ended in the browser.
  var sessionsEnded = 0
  var apiRequests = 0
  var replays = 0
  var keyConflicts = 0
  /// The number of responses with status 401 from the API and /userinfo.
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
