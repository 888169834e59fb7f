package import HearthCore

package struct CredentialSettings: Hashable, Sendable {
  /// The file's path, or `nil` to use the default path in the state folder.
  package let file: String?
  package let protection: Protection
  /// The key file's path. If the protection is not `key-file`, the key only opens credentials sealed earlier.
  package let keyFile: String?

  package enum Key: String, ConfigurationKey {
    case protection
    case credentialFile = "credential_file"
    case keyFile = "key_file"
  }

  package init(reading table: TableReader<Key>) throws {
    file = try table.path(.credentialFile)
    let named = try table.choice(.protection, as: Protection.self)
    if named == .secretService {
      throw table.error(.protection, "cannot be \"secret-service\" yet; use \"passphrase\" or \"key-file\"")
    }
    protection = named ?? .none
    keyFile = try table.path(.keyFile)
    if named == .keyFile, keyFile == nil {
      throw table.error("lacks \"key_file\", which protection \"key-file\" needs")
    }
    // A key file without `protection` would wrongly suggest that the credential is sealed.
    guard named != nil || keyFile == nil else {
      throw table.error(
        .keyFile,
        "has no effect without protection = \"key-file\". Set protection, or store the credential unsealed with "
          + "\"hearthctl protect ACCOUNT --with none\"")
    }
  }
}

/// How an account's credential is protected on disk (`protection` in the configuration and in the file).
package enum Protection: String, Hashable, Sendable, CaseIterable {
  case none
  case passphrase
  case keyFile = "key-file"
  case secretService = "secret-service"

  /// The protections that users can configure. The Secret Service is not supported yet.
  package static let allCases: [Protection] = [.none, .passphrase, .keyFile]
}
