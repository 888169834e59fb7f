package import HearthCore

/// The URLs and field names of a `json` account's backend. A dot in a field name separates nested objects.
package struct JSONBackend: Hashable, Sendable {
  package var refreshURL: HTTPURL
  package var loginURL: HTTPURL?
  package var refreshTokenField = "refresh_token"
  package var accessTokenField = "access_token"
  package var expiresInField = "expires_in"
}

extension JSONBackend {
  init(refreshURL: HTTPURL, reading table: TableReader<ProviderKey>) throws {
    self.init(refreshURL: refreshURL, loginURL: try table.url(.loginURL))
    refreshTokenField = try table.fieldName(.refreshTokenField) ?? refreshTokenField
    accessTokenField = try table.fieldName(.accessTokenField) ?? accessTokenField
    expiresInField = try table.fieldName(.expiresInField) ?? expiresInField
  }
}

extension TableReader<ProviderKey> {
  fileprivate func fieldName(_ key: ProviderKey) throws -> String? {
    guard let name = try string(key) else { return nil }
    guard name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy({ !$0.isEmpty }) else {
      throw error(key, "cannot be \"\(name)\": the parts between dots must not be empty")
    }
    return name
  }
}
