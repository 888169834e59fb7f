import Testing

@testable import HearthCore

@Suite("A table of the configuration")
struct TableReaderTests {
  private enum Key: String, ConfigurationKey {
    case value, other
    case secret = "client_secret_file"
  }

  private static func table(_ values: [String: ConfigurationValue.Content]) -> ConfigurationTable {
    ConfigurationTable(
      file: "/c.toml", roots: PathRoots(home: "/home/me", runtime: "/run/user/7"),
      values: values.mapValues { ConfigurationValue($0, line: 7) })
  }

  private static func reader(_ content: ConfigurationValue.Content) -> TableReader<Key> {
    TableReader(sharing: table(["value": content]))
  }

  private static func strings(_ texts: String...) -> ConfigurationValue.Content {
    .array(texts.map { ConfigurationValue(.string($0), line: 7) })
  }

  /// The end of the sentence that says why something is refused, or `nil` if it is accepted.
  private static func refusal(_ read: () throws -> Void) -> String? {
    do {
      try read()
      return nil
    } catch {
      return "\(error)"
    }
  }

  private static func refusal(
    _ content: ConfigurationValue.Content, _ read: (TableReader<Key>) throws -> Void
  ) -> String? {
    refusal { try read(reader(content)) }
  }

  private static let place = "/c.toml:7: \"value\" in the file "

  @Test("has no value for a key that is missing")
  func missing() throws {
    let reader = TableReader<Key>(sharing: Self.table([:]))
    #expect(!reader.has(.value))
    #expect(try reader.string(.value) == nil && reader.flag(.value) == nil && reader.path(.value) == nil)
    #expect(try reader.strings(.value).isEmpty && reader.fields(.value, except: []).isEmpty)
    #expect(try reader.origins(.value).isEmpty && reader.integers(.value).isEmpty)
    #expect(try reader.integer(.value, in: 1...2) == nil && reader.fraction(.value) == nil)
    #expect(try reader.duration(.value) == nil && reader.byteCount(.value) == nil && reader.url(.value) == nil)
    let inner: [TableReader<Key>] = try reader.tables(.value)
    #expect(inner.isEmpty)
  }

  @Test("gives every element of an array, in order")
  func arrays() throws {
    #expect(try Self.reader(Self.strings("b", "a")).strings(.value) == ["b", "a"])
    let numbers = ConfigurationValue.Content.array([3, 1].map { ConfigurationValue(.integer($0), line: 7) })
    #expect(try Self.reader(numbers).integers(.value) == [3, 1])
    #expect(try Self.reader(.integer(5)).integers(.value) == [5])
    let origins = try Self.reader(Self.strings("https://b.example.com", "https://a:81")).origins(.value)
    #expect(origins.map(\.description) == ["https://b.example.com", "https://a:81"])
    let tables = ConfigurationValue.Content.array(
      ["x", "y"].map { ConfigurationValue(.table(["other": ConfigurationValue(.string($0), line: 8)]), line: 7) })
    let readers: [TableReader<Key>] = try Self.reader(tables).tables(.value)
    #expect(try readers.map { try $0.string(.other) } == ["x", "y"])
  }

  @Test("gives its fields by name")
  func fields() throws {
    let fields = ConfigurationValue.Content.table(["audience": ConfigurationValue(.string("api"), line: 8)])
    #expect(try Self.reader(fields).fields(.value, except: ["scope"]) == ["audience": "api"])
    #expect(
      Self.refusal(fields) { _ = try $0.fields(.value, except: ["audience"]) }
        == "/c.toml:8: \"audience\" in \"value\" of the file cannot be set, because Hearth sets it")
    let unnamed = ConfigurationValue.Content.table(["": ConfigurationValue(.string("api"), line: 8)])
    #expect(
      Self.refusal(unnamed) { _ = try $0.fields(.value, except: []) }
        == Self.place + "must not contain a field with an empty name")
  }

  @Test("refuses empty values and values of the wrong type, and says where")
  func types() {
    let empty = Self.refusal(.string("")) { _ = try $0.string(.value) }
    #expect(empty == Self.place + "must not be empty")
    let flag = Self.refusal(.integer(1)) { _ = try $0.flag(.value) }
    #expect(flag == Self.place + "must be true or false, not an integer")
    let element = Self.refusal(Self.strings("a", "")) { _ = try $0.strings(.value) }
    #expect(element == Self.place + "has an empty element")
    let other = Self.refusal(.other(type: "a date")) { _ = try $0.fraction(.value) }
    #expect(other == Self.place + "must be a number, not a date")
  }

  @Test("refuses unknown keys, and names the first one by line")
  func unknownKeys() {
    let table = ConfigurationTable(
      file: "/c.toml", roots: PathRoots(),
      values: [
        "value": ConfigurationValue(.integer(1), line: 1), "wrong": ConfigurationValue(.integer(1), line: 4),
        "zero": ConfigurationValue(.integer(1), line: 3), "nowhere": ConfigurationValue(.integer(1), line: nil),
      ])
    let refusal = Self.refusal { _ = try TableReader<Key>(table) }
    #expect(refusal == "/c.toml:3: unknown key \"zero\" in the file")
  }

  @Test("accepts an origin only if nothing follows it", arguments: ["/", "/v1", "?a=b", "/v1?a=b"])
  func originsOnly(rest: String) {
    let refusal = Self.refusal(Self.strings("https://api.example.com" + rest)) { _ = try $0.origins(.value) }
    #expect(refusal?.hasSuffix("an origin must be scheme://host or scheme://host:port, without a path") == true)
  }

  @Test("replaces a sign at the beginning of a path by its folder, and nowhere else")
  func paths() throws {
    func read(_ text: String) throws -> String? { try Self.reader(.string(text)).path(.value) }
    #expect(try read("/x/~/%t") == "/x/~/%t")
    #expect(try read("~") == "/home/me" && read("~/x") == "/home/me/x" && read("%t/x") == "/run/user/7/x")
    for text in ["x", "~x", "%tx", "%x/y", "./x"] {
      let refusal = Self.refusal(.string(text)) { _ = try $0.path(.value) }
      #expect(refusal == Self.place + "must be a path that begins with /, ~/, %d/ or %t/, not \"\(text)\"")
    }
    let unset = Self.refusal(.string("%d/x")) { _ = try $0.path(.value) }
    #expect(unset == Self.place + "begins with %d, but $CREDENTIALS_DIRECTORY is not set")
  }

  @Test("does not quote a value that should name the file of a secret")
  func secrets() {
    let reader = TableReader<Key>(sharing: Self.table(["client_secret_file": .string("hunter2")]))
    let refusal = Self.refusal { _ = try reader.path(.secret) }
    #expect(refusal?.hasSuffix("not a string of 7 characters") == true)
    #expect("/x".withoutContent == "a path of 2 characters")
  }

  @Test(
    "quotes a URL without a password and without anything that may hold a key",
    arguments: [
      ("https://me:pass@example.com/x?key=1#part", "https://…@example.com/x?…"),
      ("https://example.com/x#part", "https://example.com/x#…"), ("https://example.com/x", "https://example.com/x"),
      ("me@example.com", "…@example.com"), ("a@b://c", "…@b://c"),
    ])
  func urls(text: String, shown: String) {
    #expect(text.withoutSecrets == shown)
  }

  @Test("accepts numbers and quantities up to their limits, and none beyond")
  func limits() throws {
    func refuses(_ content: ConfigurationValue.Content, _ read: (TableReader<Key>) throws -> Void) -> Bool {
      Self.refusal(content, read) != nil
    }
    #expect(try Self.reader(.integer(3)).integer(.value, in: 1...3) == 3)
    #expect(refuses(.integer(4)) { _ = try $0.integer(.value, in: 1...3) })
    #expect(try Self.reader(.number(0.5)).fraction(.value) == 0.5 && Self.reader(.integer(0)).fraction(.value) == 0)
    #expect(refuses(.integer(1)) { _ = try $0.fraction(.value) })
    #expect(try Self.reader(.string("0s")).duration(.value, orZero: true) == .zero)
    #expect(refuses(.string("0s")) { _ = try $0.duration(.value) })
    #expect(refuses(.string("1y")) { _ = try $0.duration(.value) })
    #expect(try Self.reader(.string("1KiB")).byteCount(.value) == 1024)
    #expect(refuses(.string("0KiB")) { _ = try $0.byteCount(.value) })
  }

  @Test("reads every unit of time and size, up to a hundred years and 2^50 bytes")
  func quantities() {
    let durations: [(String, Duration?)] = [
      ("500ms", .milliseconds(500)), ("30s", .seconds(30)), ("5m", .seconds(300)), ("6h", .seconds(21_600)),
      ("7d", .seconds(604_800)), ("36525d", .seconds(36_525 * 86_400)), ("36526d", nil), ("5", nil), ("s", nil),
      ("-1s", nil), ("99999999999999999d", nil),
    ]
    for (text, duration) in durations { #expect(ConfigurationValue.duration(from: text) == duration, "\(text)") }
    let sizes: [(String, Int?)] = [
      ("64KiB", 64 << 10), ("1MiB", 1 << 20), ("1GiB", 1 << 30), ("1048576GiB", 1 << 50), ("1048577GiB", nil),
      ("1B", nil),
    ]
    for (text, size) in sizes { #expect(ConfigurationValue.byteCount(from: text) == size, "\(text)") }
  }
}

@Suite("Settings that are read from a table")
struct ReadSettingsTests {
  private static func table<Key: ConfigurationKey>(_ values: [String: String]) throws -> TableReader<Key> {
    try TableReader(
      ConfigurationTable(
        file: "/c.toml", roots: PathRoots(),
        values: values.mapValues { ConfigurationValue(.string($0), line: 7) }))
  }

  private static func sink(_ values: [String: String]) throws -> SinkSettings {
    let account = try #require(AccountName("work"))
    return try SinkSettings(of: account, origins: [], username: nil, reading: table(values))
  }

  @Test("a sink is a file with a name, and its path is normalized")
  func sinkPaths() throws {
    #expect(try Self.sink(["path": "/x//./y"]).path == "/x/y")
    for path in ["/", "/.", "//", "/x/", "/x/.", "/../x", "/x/.."] {
      #expect(throws: ConfigurationError.self, "\(path)") { try Self.sink(["path": path]) }
    }
  }

  @Test("others may read a sink, only its owner may write it, and nobody may execute it")
  func sinkModes() throws {
    for (text, mode) in [("600", 0o600), ("0400", 0o400), ("0644", 0o644), ("0440", 0o440)] as [(String, UInt32)] {
      #expect(try Self.sink(["path": "/x", "mode": text]).mode == mode)
    }
    #expect(try Self.sink(["path": "/x"]).mode == 0o600)
    for text in ["0700", "0620", "0602", "0601", "0200", "4600", "60", "00600", "0x1", ""] {
      #expect(throws: ConfigurationError.self, "\(text)") { try Self.sink(["path": "/x", "mode": text]) }
    }
  }

  @Test("a lock that is not supported gets another message than an unknown one")
  func locks() throws {
    func read(_ name: String) throws -> SessionSettings {
      let names = ConfigurationValue(.array([ConfigurationValue(.string(name), line: 7)]), line: 7)
      return try SessionSettings(
        reading: TableReader(ConfigurationTable(file: "/c.toml", roots: PathRoots(), values: ["lock_on": names])))
    }
    let settings = try read("unreadable")
    #expect(settings.locksWhenUnreadable && settings.locks == [.user])
    for (name, isPlanned) in [("screen-lock", true), ("suspend", true), ("door", false)] {
      let error = #expect(throws: ConfigurationError.self) { try read(name) }
      #expect(error?.description.contains("is not supported yet") == isPlanned, "\(name)")
      #expect(error?.description.hasSuffix("the supported values are \"unreadable\"") == true)
    }
  }

  @Test("the first wait may be as long as the longest one, but not longer")
  func waits() throws {
    #expect(try RefreshSettings(reading: Self.table(["backoff_initial": "5m"])).backoffInitial == .seconds(300))
    #expect(throws: ConfigurationError.self) { try RefreshSettings(reading: Self.table(["backoff_max": "999ms"])) }
    #expect(try OutboxSettings(reading: Self.table(["retry_max": "1s"])).retryMax == .seconds(1))
    #expect(throws: ConfigurationError.self) { try OutboxSettings(reading: Self.table(["retry_initial": "7h"])) }
    #expect(try OutboxSettings(reading: Self.table(["max_bytes": "1MiB"])).maxBytes == 1 << 20)
    #expect(throws: ConfigurationError.self) { try OutboxSettings(reading: Self.table(["max_bytes": "1023KiB"])) }
  }

  @Test("the configuration may decide a status only if that is allowed, and only once")
  func overrides() throws {
    func read(_ entries: (Int, String)...) throws -> DeliveryOverrides {
      try DeliveryOverrides(
        reading: entries.map { status, outcome in
          try TableReader(
            ConfigurationTable(
              file: "/c.toml", roots: PathRoots(),
              values: [
                "status": ConfigurationValue(.integer(status), line: 7),
                "outcome": ConfigurationValue(.string(outcome), line: 8),
              ]))
        })
    }
    for (status, outcome) in [
      (300, "retry"), (599, "dead"), (400, "retry"), (300, "delivered"), (409, "delivered"), (499, "delivered"),
    ] {
      #expect(try read((status, outcome))[status]?.rawValue == outcome)
    }
    for (status, outcome) in [
      (200, "retry"), (299, "dead"), (401, "retry"), (407, "dead"), (511, "retry"), (408, "delivered"),
      (425, "delivered"), (429, "delivered"), (500, "delivered"), (599, "delivered"), (199, "retry"), (600, "retry"),
    ] {
      #expect(throws: ConfigurationError.self, "\(status) \(outcome)") { try read((status, outcome)) }
    }
    #expect(throws: ConfigurationError.self) { try read((404, "retry"), (404, "dead")) }
    #expect(try read((404, "retry"), (410, "dead"))[410] == .dead)
  }
}
