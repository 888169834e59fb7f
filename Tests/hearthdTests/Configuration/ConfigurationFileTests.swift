import FoundationEssentials
import Glibc
import HearthCore
import Logging
import TestSupport
import Testing

@testable import hearthd

@Suite struct ConfigurationFileTests {
  private let folder = TemporaryFolder()

  private func paths(_ environment: [String: String] = [:], option: String? = nil) -> ConfiguredPaths {
    ConfiguredPaths(configuration: option, environment: environment, workingDirectory: folder.path)
  }

  @Test("--config comes before the environment, and $HEARTH_CONFIG before the XDG folder")
  func order() throws {
    let option = try folder.write("[log]\nlevel = 'trace'", to: "option.toml")
    let variable = try folder.write("[log]\nlevel = 'debug'", to: "variable.toml")
    let xdg = try folder.write("[log]\nlevel = 'error'", to: "xdg/hearth/config.toml")
    let environment = ["HEARTH_CONFIG": variable, "XDG_CONFIG_HOME": folder.path + "/xdg"]
    let first = try Configuration.load(from: paths(environment, option: option))
    #expect(first.path == option && first.configuration.logLevel == .trace)
    let second = try Configuration.load(from: paths(environment))
    #expect(second.path == variable && second.configuration.logLevel == .debug)
    let third = try Configuration.load(from: paths(["XDG_CONFIG_HOME": folder.path + "/xdg"]))
    #expect(third.path == xdg && third.configuration.logLevel == .error)
  }

  @Test("a file that is not there gives way to the next one")
  func next() throws {
    let home = try folder.write("", to: "home/.config/hearth/config.toml")
    let environment = [
      "HEARTH_CONFIG": folder.path + "/none.toml", "XDG_CONFIG_HOME": "", "HOME": folder.path + "/home",
    ]
    #expect(try Configuration.load(from: paths(environment)).path == home)
    #expect(
      paths(environment).configurationFiles == [
        folder.path + "/none.toml", home, "/etc/hearth/config.toml",
      ])
  }

  @Test("a file that --config names must exist")
  func missingOption() {
    let error = #expect(throws: ConfigurationError.self) {
      try Configuration.load(from: paths(option: "none.toml"))
    }
    #expect(error?.description == "\(folder.path)/none.toml: no such file")
  }

  @Test("a file that group or world may write is refused by name", arguments: [0o620, 0o602, 0o666])
  func writable(mode: Int) throws {
    let path = try folder.write("", to: "c.toml", mode: mode)
    let error = #expect(throws: ConfigurationError.self) { try Configuration.load(from: paths(option: path)) }
    #expect(error?.description == "\(path): other users can write to the file; run \"chmod go-w\" on it")
  }

  @Test("a file that others may only read is taken", arguments: [0o600, 0o644, 0o400])
  func readable(mode: Int) throws {
    let path = try folder.write("", to: "c.toml", mode: mode)
    #expect(try Configuration.load(from: paths(option: path)).path == path)
  }

  @Test("a file must be the user's own or root's, and a regular one")
  func owner() {
    let regular = S_IFREG | 0o600
    #expect(Configuration.distrust(mode: regular, owner: 1000, user: 1000) == nil)
    #expect(Configuration.distrust(mode: regular, owner: 0, user: 1000) == nil)
    #expect(
      Configuration.distrust(mode: regular, owner: 1001, user: 1000)
        == "the file belongs to user 1001, but must belong to you or to root")
    #expect(Configuration.distrust(mode: S_IFDIR | 0o700, owner: 1000, user: 1000) == "not a regular file")
  }

  @Test("a folder in its place, bytes that are no text and too much text are refused")
  func content() throws {
    func refusal(_ path: String) -> String? {
      let error = #expect(throws: ConfigurationError.self) { try Configuration.load(from: paths(option: path)) }
      return error?.description
    }
    #expect(refusal(folder.path) == "\(folder.path): not a regular file")
    let large = try folder.write(String(repeating: "#", count: 1 << 20 | 1), to: "large.toml")
    #expect(refusal(large) == "\(large): the file is larger than 1 MiB")
    // The first read of this file fails, because no memory is mapped at address 0.
    #expect(refusal("/proc/self/mem") == "/proc/self/mem: cannot read the file: Input/output error")
    let binary = try folder.write("", to: "binary.toml")
    try Data([0x23, 0xff]).write(to: URL(filePath: binary))
    #expect(refusal(binary) == "\(binary): the file is not UTF-8 text")
  }

  @Test("a file may begin with a byte order mark and have lines that end with CR LF; one in UTF-16 is said to be")
  func otherEditors() throws {
    let path = try folder.write("\u{FEFF}[log]\r\nlevel = 'debug'\r\n", to: "windows.toml")
    #expect(try Configuration.load(from: paths(option: path)).configuration.logLevel == .debug)
    let wrong = try folder.write("\u{FEFF}[log]\r\nlevel = 'loud'\r\n", to: "wrong.toml")
    let error = #expect(throws: ConfigurationError.self) { try Configuration.load(from: paths(option: wrong)) }
    #expect(error?.description.hasPrefix("\(wrong):2: ") == true)
    let wide = try folder.write("", to: "wide.toml")
    try Data([0xFF, 0xFE, 0x5B, 0]).write(to: URL(filePath: wide))
    let utf16 = #expect(throws: ConfigurationError.self) { try Configuration.load(from: paths(option: wide)) }
    #expect(utf16?.description == "\(wide): the file is UTF-16 text and must be saved as UTF-8")
  }

  @Test("the example that is installed is fine, and so is every setting that it shows")
  func example() throws {
    let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appending(path: "etc/hearth/config.toml")
    let text = String(decoding: try Data(contentsOf: path), as: UTF8.self)
    #expect(
      try Configuration(
        text: text, file: "config.toml", roots: PathRoots(home: "/home/me"), proxies: ConfigurationTests.environment)
        == Configuration())

    let shown = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.hasPrefix("#") && line.dropFirst().first.map { $0.isLetter || $0 == "[" } == true ? line.dropFirst() : line
    }
    let all = try Configuration(
      text: shown.joined(separator: "\n"), file: "config.toml",
      roots: PathRoots(home: "/home/me", runtime: "/run/user/7"), proxies: ConfigurationTests.environment)
    #expect(
      all.accounts.map(\.name.description) == ["app", "apple", "mail", "mobile", "other", "robot", "signed", "work"])
    var defaults = Configuration()
    (defaults.accounts, defaults.sinks, defaults.rules) = (all.accounts, all.sinks, all.rules)
    let names = all.accounts.map(\.name)
    #expect(all.rules.choice(for: nil, in: ["/home/me/work"], among: names)?.reason == .preset)
    #expect(
      try all.rules.choice(
        for: AccountRules.Place("https://git.example.com/acme"), in: ["/home/me/work"], among: names)?.reason == .rule)
    #expect(all.sinks.map(\.path) == ["/run/user/7/work.token", "/home/me/.netrc"])
    #expect(all == defaults)
  }

  @Test("no two accounts share a credential file, by whatever names it goes, whether it is there yet or not")
  func sharedFile() throws {
    let real = folder.path + "/real"
    for name in ["/real", "/state", "/state/credentials"] {
      try FileManager.default.createDirectory(atPath: folder.path + name, withIntermediateDirectories: true)
    }
    let there = try folder.write("{}", to: "real/there.json")
    let isLinked: [(String, to: String)] = [
      ("/linked", to: real), ("/there.json", to: there), ("/later.json", to: "real/none.json"),
      ("/default", to: folder.path + "/state/credentials"),
    ]
    for (link, target) in isLinked {
      try FileManager.default.createSymbolicLink(atPath: folder.path + link, withDestinationPath: target)
    }
    try #require(link(there, real + "/hard.json") == 0)
    func refusal(_ b: String, _ a: String?) throws -> String? {
      func account(_ name: String, _ file: String?) -> String {
        let file = file.map { "credential_file = '\($0)'\n" } ?? ""
        return "[accounts.\(name)]\ntype = 'firebase'\napi_key = 'k'\n\(file)"
      }
      let path = try folder.write(account("a", a) + account("b", b), to: "c.toml")
      let paths = ConfiguredPaths(
        configuration: path, state: folder.path + "/state", environment: [:], workingDirectory: folder.path)
      do {
        _ = try Configuration.load(from: paths)
        return nil
      } catch {
        return "\(error)"
      }
    }
    for spelled in ["/real/./", "//real//", "/real/../real/", "/linked/"] {
      for name in ["there.json", "none.json"] {
        #expect(try refusal(folder.path + spelled + name, "\(real)/\(name)")?.contains("cannot share") == true)
      }
    }
    #expect(try refusal(folder.path + "/there.json", there)?.contains("cannot share") == true)
    #expect(try refusal(folder.path + "/later.json", real + "/none.json")?.contains("cannot share") == true)
    #expect(try refusal(real + "/hard.json", there)?.contains("cannot share") == true)
    let defaults = try refusal(folder.path + "/default/a.json", nil)
    #expect(
      defaults == "\(folder.path)/c.toml:7: [accounts.a] and [accounts.b] cannot share the credential_file "
        + "\(folder.path)/default/a.json")
    #expect(try refusal(real + "/other.json", there) == nil)
    #expect(try refusal(folder.path + "/not/yet/a.json", folder.path + "/not/a.json") == nil)
    #expect(try refusal(folder.path + "/default/b.json", nil) == nil, "its own default place is free")
  }
  @Test("no credential lies where Hearth has another file, by whatever name: it would be moved aside, and deleted")
  func ownFiles() throws {
    for name in ["/state/credentials", "/state/revocations", "/keys"] {
      try FileManager.default.createDirectory(atPath: folder.path + name, withIntermediateDirectories: true)
    }
    for name in ["state/accounts.json", "state/outbox.sqlite", "keys/one", "keys/secret"] {
      _ = try folder.write("x", to: name)
    }
    try #require(link(folder.path + "/state/accounts.json", folder.path + "/hard.json") == 0)
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/linked", withDestinationPath: folder.path + "/state")
    func refusal(_ file: String, _ more: String = "") throws -> String? {
      let path = try folder.write(
        """
        [accounts.a]
        type = 'oidc'
        issuer = 'https://id.example.com'
        client_id = 'c'
        credential_file = '\(folder.path)\(file)'
        \(more)
        """, to: "c.toml")
      let paths = ConfiguredPaths(
        configuration: path, state: folder.path + "/state", environment: ["XDG_RUNTIME_DIR": folder.path],
        workingDirectory: folder.path)
      do {
        _ = try Configuration.load(from: paths)
        return nil
      } catch {
        return "\(error)"
      }
    }
    for (file, what) in [
      ("/c.toml", "the configuration"), ("/state/accounts.json", "a file in the state folder"),
      ("/linked/outbox.sqlite", "a file in the state folder"), ("/hard.json", "a file in the state folder"),
      ("/state/outbox.sqlite-wal", "the state folder"), ("/state/revocations/key", "the state folder"),
      ("/state/credentials/deeper/a.json", "the state folder"), ("/linked", "the state folder"),
    ] {
      let sentence =
        "\(folder.path)/c.toml:5: \"credential_file\" in [accounts.a] cannot be \(folder.path)\(file): that is \(what)"
      #expect(try refusal(file) == sentence)
    }
    let key = "protection = 'key-file'\nkey_file = '\(folder.path)/keys/one'"
    #expect(try refusal("/keys/../keys/one", key)?.hasSuffix("that is the key file of [accounts.a]") == true)
    let secret = "client_secret_file = '\(folder.path)/keys/secret'"
    #expect(try refusal("/keys/secret", secret)?.hasSuffix("that is the client_secret_file of [accounts.a]") == true)
    #expect(try refusal("/keys/free.json", key) == nil)
    #expect(try refusal("/state/credentials/a.json") == nil, "its own default place is free")
  }
}
