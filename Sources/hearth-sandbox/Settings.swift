/// The settings of the provider. Times are in seconds.
struct Settings: Sendable {
  var tokenLifetime: Double = 3600
  var grace: Double = 10
  var clientID: String?
  var clientSecret: String?
  var password = "password"
  /// Whether authorization requests must be pushed.
  var demandsPushedRequests = false
  /// Whether clients cannot register, whether each gets a secret, and the initial access token that they must send.
  var refusesRegistration = false
  var registersSecrets = false
  var registrationToken: String?
  var deviceCodeLifetime: Double = 600
  var deviceInterval: Double = 5
}
