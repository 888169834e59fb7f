import HearthCore
import HearthHashing
import HearthStorage
import Logging
import TestSupport

/// A credential store on files in memory, and what a test needs to know about them.
struct Bench {
  static let state = "/home/me/.local/state/hearth"
  static let secure = "/home/me/secure"
  static let folders = ["/home", "/home/me", "/home/me/.local", "/home/me/.local/state", secure]

  let clock = RushingClock()
  let files: MemoryFileSystem
  let watch = SilentWatch()
  let account = AccountName("work")!

  init() {
    files = MemoryFileSystem(folders: Self.folders) { [clock] in clock.now() }
  }

  let defaultPath = Bench.state + "/credentials/work.json"
  let defaultMarker = Bench.state + "/credentials/.hearth-work"
  let configuredPath = Bench.secure + "/work.json"
  let configuredMarker = Bench.secure + "/.hearth-work"
  let accountsPath = Bench.state + "/accounts.json"

  /// Makes a store as a start of the daemon does. `path` is the configured one, or `nil` for the default place.
  func store(
    at path: String? = nil, protection: Protection = .none, keyFile: String? = nil
  ) -> FileCredentialStore {
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    return FileCredentialStore(
      account: account, path: path ?? defaultPath, isConfiguredPath: path != nil, protection: protection,
      keyFile: keyFile, accounts: AccountsFile(path: accountsPath, files: files, clock: clock, logger: logger),
      files: files, watch: watch, clock: clock, logger: logger, scryptCost: 16)
  }

  func grant(_ number: Int) -> Grant {
    let issuedAt = Timestamp(rfc3339: "2026-11-21T10:00:00Z")!
    return Grant(
      accessToken: Token(hashing: Secret("access-\(number)")),
      refreshToken: Token(hashing: Secret("refresh-\(number)")), scope: "openid",
      issuedAt: issuedAt, expiresAt: issuedAt + .seconds(3600))
  }

  func credential(_ number: Int, subject: String = "2482") -> Credential {
    Credential(
      grant: grant(number), subject: Subject(issuer: "https://id.example.com", id: subject),
      origin: (try? HTTPURL("https://id.example.com"))?.origin)
  }

  func end(_ reason: EndReason, fingerprint: Fingerprint? = nil) -> EndRecord {
    EndRecord(reason: reason, at: Timestamp(rfc3339: "2026-11-21T10:00:00Z")!, fingerprint: fingerprint)
  }

  /// The file of a grant, as written by another program.
  func text(_ number: Int, account: String = "work", subject: String = "2482") -> String {
    """
    {"version":1,"account":"\(account)","issuer":"https://id.example.com","origin":"https://id.example.com",
     "subject":"\(subject)","protection":"none","grant":{"accessToken":"access-\(number)",
     "refreshToken":"refresh-\(number)","idToken":null,"tokenType":"Bearer","scope":"openid",
     "issuedAt":"2026-11-21T10:00:00.000Z","expiresAt":"2026-11-21T11:00:00.000Z","refreshExpiresAt":null}}
    """
  }
}

extension CredentialReading {
  /// The end on record, whatever was removed with it.
  var end: EndRecord? { if case .ended(let end, _) = self { end } else { nil } }
}
