/// How the provider behaves. Times are in seconds.
struct Settings: Sendable {
  var tokenLifetime: Double = 3600
  var grace: Double = 10
  var clientID: String?
  var clientSecret: String?
  var password = "password"
  /// Whether authorization requests have to be pushed.
  var demandsPushedRequests = false
  /// Whether no client may register, whether each gets a secret, and what it has to show first.
  var refusesRegistration = false
  var registersSecrets = false
  var registrationToken: String?
  var deviceCodeLifetime: Double = 600
  var deviceInterval: Double = 5
}
