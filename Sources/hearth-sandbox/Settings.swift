/// The provider's settings, with times in seconds.
struct Settings: Sendable {
  var tokenLifetime: Double = 3600
  var grace: Double = 10
  var clientID: String?
  var clientSecret: String?
  var password = "password"
  var demandsPushedRequests = false
  var refusesRegistration = false
  var registersSecrets = false
  var registrationToken: String?
  var deviceCodeLifetime: Double = 600
  var deviceInterval: Double = 5
}
