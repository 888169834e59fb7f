/// How an account's credential is protected on the disk (`protection` in the configuration and in the file).
package enum Protection: String, Hashable, Sendable, CaseIterable {
  case none
  case passphrase
  case keyFile = "key-file"
  case secretService = "secret-service"

  /// These can be configured: the Secret Service is not there yet.
  package static let allCases: [Protection] = [.none, .passphrase, .keyFile]
}
