/// Counts of requests and their outcomes.
struct Statistics: Codable, Sendable {
  var tokenCalls = 0
  /// Counts by outcome: `success`, the `error` of the response, or `fault`.
  var tokenOutcomes: [String: Int] = [:]
  var tokenCallsInFlight = 0
  var maxTokenCallsInFlight = 0
  /// Successful refreshes by subject.
  var refreshes: [String: Int] = [:]
  /// Rotated tokens that were accepted again within the grace period.
  var graceReuses = 0
  /// Rotated tokens that were used after the grace period, so that their family was revoked.
  var reuseDetected = 0
  /// Sign-ins on the pages that led to tokens, by subject.
  var signIns: [String: Int] = [:]
  /// Codes that were used a second time.
  var codesReplayed = 0
  var revocations = 0
  /// Sessions that clients ended in the browser.
  var sessionsEnded = 0
  var apiRequests = 0
  var replays = 0
  var keyConflicts = 0
  /// Responses of the API and of /userinfo with the status 401.
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
