package import HearthCore

/// What the configuration says about one account's credential file.
package struct CredentialSettings: Hashable, Sendable {
  /// The path of the file, or `nil` for the default place in the state folder.
  package let file: String?
  /// How the file is protected.
  package let protection: Protection
  /// The path of the key file. With a protection other than `key-file`, it is used to open what the key sealed earlier.
  package let keyFile: String?

  package enum Key: String, ConfigurationKey {
    case protection
    case credentialFile = "credential_file"
    case keyFile = "key_file"
  }

  package init(reading table: TableReader<Key>) throws(ConfigurationError) {
    file = try table.path(.credentialFile)
    let named = try table.choice(.protection, as: Protection.self)
    if named == .secretService {
      throw table.error(.protection, "cannot be \"secret-service\" yet: use \"passphrase\" or \"key-file\"")
    }
    protection = named ?? .none
    keyFile = try table.path(.keyFile)
    if named == .keyFile, keyFile == nil {
      throw table.error("lacks \"key_file\", which protection \"key-file\" needs")
    }
    // Without a protection, a key file would look as if it sealed the credential.
    guard named != nil || keyFile == nil else {
      throw table.error(
        .keyFile,
        "has no effect without protection = \"key-file\": set that, or end the sealing with \"hearthctl protect ACCOUNT "
          + "--with none\"")
    }
  }
}
