/// How the provider behaves. Times are in seconds.
struct Settings: Sendable {
  var tokenLifetime: Double = 3600
  var grace: Double = 10
  var clientID: String?
  var clientSecret: String?
  var password = "password"
  /// Whether authorization requests have to be pushed.
  var demandsPushedRequests = false
  var deviceCodeLifetime: Double = 600
  var deviceInterval: Double = 5
}
