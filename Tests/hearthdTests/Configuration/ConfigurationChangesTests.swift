import Testing

@testable import hearthd

@Suite("What a reload changes, for the log") struct ConfigurationChangesTests {
  private static let account = "type = \"oidc\"\nissuer = \"https://id.example.com\"\nclient_id = \"hearth\"\n"

  private func changes(from old: String, to new: String) throws -> [String] {
    try ConfigurationTests.read(new).changes(from: ConfigurationTests.read(old))
  }

  @Test("names accounts that come, go and change, and the parts that do, without their values")
  func changes() throws {
    let old = "[accounts.a]\n\(Self.account)[accounts.b]\n\(Self.account)"
    #expect(try changes(from: old, to: old) == [])
    let new =
      "[accounts.a]\n\(Self.account)api_origins = [\"https://api.example.com\"]\n[accounts.c]\n\(Self.account)"
      + "[refresh]\nmargin = \"1m\"\n"
    #expect(
      try changes(from: old, to: new).map { $0.split(separator: ",").first.map(String.init) ?? "" }.sorted() == [
        "[refresh]", "account a: api_origins and delivery", "account b: removed", "account c: added",
      ])
    let moved = old.replacing("client_id = \"hearth\"\n[accounts.b]", with: "client_id = \"other\"\n[accounts.b]")
    #expect(try changes(from: old, to: moved) == ["account a: provider (different issuer or client)"])
  }
}
