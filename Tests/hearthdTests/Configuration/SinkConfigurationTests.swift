import HearthCore
import Testing

@testable import hearthd

@Suite struct SinkConfigurationTests {
  private static let account = "[accounts.a]\ntype = 'firebase'\napi_key = 'k'\n"

  private static func read(_ sinks: String, _ places: [OwnPlaces.Place] = []) throws -> Configuration {
    try Configuration(
      text: account + sinks, file: "/c.toml", roots: PathRoots(home: "/home/me", runtime: "/run/user/7"),
      proxies: ConfigurationTests.environment, ownPlaces: places)
  }

  private static func refusal(_ sinks: String, _ places: [OwnPlaces.Place] = []) -> String? {
    #expect(throws: ConfigurationError.self) { _ = try read(sinks, places) }?.description
  }

  @Test("every key of a sink is read, and the others have their defaults")
  func all() throws {
    let name = try #require(AccountName("a"))
    let configuration = try Self.read(
      """
      [[accounts.a.sinks]]
      path = "%t//x/./token"
      [[accounts.a.sinks]]
      path = "~/token"
      format = "json"
      bearer = "id_token"
      mode = "0440"
      owner = "app"
      group = "100"
      in_place = true
      """)
    #expect(
      configuration.sinks == [
        SinkSettings(account: name, path: "/run/user/7/x/token"),
        SinkSettings(
          account: name, path: "/home/me/token", format: .json, bearer: .idToken, mode: 0o440, owner: "app",
          group: "100", isInPlace: true),
      ])
    #expect(configuration.accounts == (try Self.read("").accounts), "a session does not begin anew for its sinks")
  }

  @Test(
    "a sink that cannot be is refused with its line, and its key where it has one",
    arguments: [
      ("", "/c.toml:4: [[accounts.a.sinks]] lacks \"path\""),
      (
        "path = 'x'",
        "/c.toml:5: \"path\" in [[accounts.a.sinks]] must be a path that begins with /, ~/, %d/ or %t/, not \"x\""
      ),
      (
        "path = '/'", "/c.toml:5: \"path\" in [[accounts.a.sinks]] must be the path of a file without \"..\", not \"/\""
      ),
      (
        "path = '/x/'",
        "/c.toml:5: \"path\" in [[accounts.a.sinks]] must be the path of a file without \"..\", not "
          + "\"/x/\""
      ),
      (
        "path = '/x/../y'",
        "/c.toml:5: \"path\" in [[accounts.a.sinks]] must be the path of a file without \"..\", not \"/x/../y\""
      ),
      ("path = '/x'\nmod = 1", "/c.toml:6: unknown key \"mod\" in [[accounts.a.sinks]]"),
      (
        "path = '/x'\nformat = 'yaml'",
        "/c.toml:6: \"format\" in [[accounts.a.sinks]] must be \"token\", \"header\", \"json\" or \"netrc\", not \"yaml\""
      ),
      (
        "path = '/x'\nbearer = 'id'",
        "/c.toml:6: \"bearer\" in [[accounts.a.sinks]] must be \"access_token\" or \"id_token\", not \"id\""
      ),
      (
        "path = '/x'\nin_place = 1",
        "/c.toml:6: \"in_place\" in [[accounts.a.sinks]] must be true or false, not an integer"
      ),
      (
        "path = '/x'\n[[accounts.a.sinks]]\npath = '//x'",
        "/c.toml:7: \"path\" in [[accounts.a.sinks]] cannot be /x: that is the path of another sink of [accounts.a]"
      ),
    ])
  func bad(_ keys: String, _ sentence: String) {
    #expect(Self.refusal("[[accounts.a.sinks]]\n" + keys) == sentence)
  }

  @Test(
    "others may read, and nobody else may write or execute",
    arguments: ["0666", "0755", "0000", "600x", "06", "01600", "-600", "0200"])
  func mode(_ mode: String) {
    #expect(
      Self.refusal("[[accounts.a.sinks]]\npath = '/x'\nmode = '\(mode)'")
        == "/c.toml:6: \"mode\" in [[accounts.a.sinks]] must be a mode like \"0600\" or \"0640\" (the owner "
        + "can read, only the owner can write, nobody can execute), not \"\(mode)\""
    )
  }

  @Test("a netrc file has the hosts of api_origins without their ports, or some of them, and a login")
  func netrc() throws {
    func netrc(_ keys: String, _ account: String = "") throws -> SinkSettings.Netrc? {
      let origins = "api_origins = ['https://X.example.com:8443', 'https://x.example.com', 'https://[::1]']\n"
      return try Self.read("\(origins)\(account)[[accounts.a.sinks]]\npath = '/n'\nformat = 'netrc'\n\(keys)").sinks
        .first?.netrc
    }
    #expect(try netrc("") == SinkSettings.Netrc(hosts: ["::1", "x.example.com"], login: "oauth2"))
    #expect(try netrc("", "username = 'ada'\n")?.login == "ada")
    #expect(try netrc("", "username = 'Ada L'\n")?.login == "oauth2")
    #expect(
      try netrc("hosts = ['X.example.com']\nlogin = '__token__'")
        == SinkSettings.Netrc(hosts: ["x.example.com"], login: "__token__"))
  }

  @Test(
    "keys that do not apply to a netrc file are refused, and its own keys are refused for other files",
    arguments: [
      ("format = 'netrc'", "/c.toml:4: [[accounts.a.sinks]] needs at least one host in the account's api_origins"),
      (
        "format = 'netrc'\nhosts = ['y']",
        "/c.toml:7: \"hosts\" in [[accounts.a.sinks]] cannot contain \"y\", which is not a host in the account's "
          + "api_origins"
      ),
      (
        "format = 'netrc'\nlogin = 'a b'",
        "/c.toml:7: \"login\" in [[accounts.a.sinks]] must be one word of printable ASCII without quotes or backslashes, and must not begin with #"
      ),
      (
        "format = 'netrc'\nmode = '0640'",
        "/c.toml:7: \"mode\" in [[accounts.a.sinks]] does not apply to format \"netrc\""
      ),
      (
        "format = 'json'\nlogin = 'a'",
        "/c.toml:7: \"login\" in [[accounts.a.sinks]] applies only to format \"netrc\""
      ),
    ])
  func badNetrc(_ keys: String, _ sentence: String) {
    #expect(Self.refusal("[[accounts.a.sinks]]\npath = '/x'\n" + keys) == sentence)
  }

  @Test("several accounts can share a netrc file, each once, but no other file")
  func sharedNetrc() throws {
    func read(_ first: String, _ second: String) -> String? {
      let table = "api_origins = ['https://x']\n[[accounts.a.sinks]]\npath = '/n'\n\(first)\n"
      let other = "[accounts.b]\ntype = 'firebase'\napi_key = 'k'\napi_origins = ['https://x']\n[[accounts.b.sinks]]\n"
      do { _ = try Self.read(table + other + "path = '/n'\n\(second)") } catch { return "\(error)" }
      return nil
    }
    let taken = "\"path\" in [[accounts.b.sinks]] cannot be /n: that is the path of another sink of [accounts.a]"
    #expect(read("format = 'netrc'", "format = 'netrc'") == nil)
    #expect(read("format = 'netrc'", "")?.hasSuffix(taken) == true)
    #expect(read("", "format = 'netrc'")?.hasSuffix(taken) == true)
    let twice = "[[accounts.a.sinks]]\npath = '/n'\nformat = 'netrc'\n"
    #expect(Self.refusal("api_origins = ['https://x']\n" + twice + twice)?.contains("another sink") == true)
  }

  @Test("sinks are tables of their own, also in one line", arguments: ["sinks = 1\n", "sinks = [1]\n"])
  func notTables(_ text: String) throws {
    #expect(Self.refusal(text)?.hasPrefix("/c.toml:4: [[accounts.a.sinks]] must ") == true)
    #expect(try Self.read("sinks = [{ path = '/x' }]\n").sinks.map(\.path) == ["/x"])
    #expect(Self.refusal("sinks = [{ path = 1 }]\n")?.hasPrefix("/c.toml:4: \"path\" in") == true)
  }

  @Test("no sink lies where Hearth has files of its own")
  func ownPlaces() throws {
    let places = [
      OwnPlaces.Place("/state", "the state folder", isFolder: true), OwnPlaces.Place("/run/s", "the daemon's socket"),
    ]
    func refusal(_ path: String) -> String? { Self.refusal("[[accounts.a.sinks]]\npath = '\(path)'", places) }
    #expect(refusal("/run/s")?.hasSuffix("cannot be /run/s: that is the daemon's socket") == true)
    #expect(refusal("/state/outbox.sqlite")?.hasSuffix("that is the state folder") == true)
    #expect(refusal("/c.toml")?.hasSuffix("that is the configuration") == true)
    let text = "credential_file = '/x'\n[[accounts.a.sinks]]\npath = '/x'"
    #expect(Self.refusal(text)?.hasSuffix("that is the credential file of [accounts.a]") == true)
    let key = "protection = 'key-file'\nkey_file = '/k'\n[[accounts.a.sinks]]\npath = '/k'"
    #expect(Self.refusal(key)?.hasSuffix("that is the key file of [accounts.a]") == true)
    #expect(try Self.read("[[accounts.a.sinks]]\npath = '/statement'", places).sinks.count == 1)
  }
}
