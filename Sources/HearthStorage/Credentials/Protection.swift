/// How an account's credential is protected on disk (`protection` in the configuration and in the file).
package enum Protection: String, Hashable, Sendable, CaseIterable {
  case none
  case passphrase
  case keyFile = "key-file"
  case secretService = "secret-service"

  /// The protections that users can configure. The Secret Service is not supported yet.
  package static let allCases: [Protection] = [.none, .passphrase, .keyFile]
}
