/// How an account's credential is protected on the disk (`protection` in the configuration and in the file).
package enum Protection: String, Hashable, Sendable, CaseIterable {
  case none
  case passphrase
  case keyFile = "key-file"
  case secretService = "secret-service"
}
