/// What the configuration says about one account's session.
package struct SessionSettings: Hashable, Sendable {
  package var refresh = RefreshSettings()
  /// The locks that apply to the account: the user's own, and those that `lock_on` names.
  package var locks: Set<Lock> = [.user]
  /// Whether an unreadable file locks at once, and not only when the token has expired (`lock_on = ["unreadable"]`).
  package var locksWhenUnreadable = false
  /// Whether the provider gives new tokens without a refresh token (RFC 6749, section 4.4).
  package var renewsWithoutRefreshToken = false
  package var bearer = BearerKind.accessToken
  /// The configured issuer, which clients see while the subject is unknown.
  package var issuer: String?
  /// The session's user if the provider does not say.
  package var configuredSubject: Subject?
  /// The user's name in other programs, such as git.
  package var username: String?
  /// The origins that grants are bound to, or `nil` if they are not bound.
  package var binding: TokenBinding?
  package var reauthPrompt = ReauthPrompt.none

  package init() {}
}

extension SessionSettings {
  package enum Key: String, ConfigurationKey {
    case username
    case lockOn = "lock_on"
    case onReauth = "on_reauth"
  }

  /// The value of `lock_on` for a credential file that cannot be read.
  private static let unreadable = "unreadable"

  /// Reads what an account's table says about locks and about ended sessions.
  package init(reading table: TableReader<Key>) throws(ConfigurationError) {
    self.init()
    username = try table.string(.username)
    if let username, username.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
      throw table.error(.username, "cannot have control characters")
    }
    reauthPrompt = try table.choice(.onReauth, as: ReauthPrompt.self) ?? reauthPrompt
    for name in try table.strings(.lockOn) {
      let lock = Lock.allCases.first { $0.configuredName == name }
      if name == Self.unreadable {
        locksWhenUnreadable = true
      } else if let lock, lock.isSupported {
        locks.insert(lock)
      } else {
        let supported = [Self.unreadable] + Lock.allCases.filter(\.isSupported).compactMap(\.configuredName)
        let names = supported.map { "\"\($0)\"" }.joined(separator: ", ")
        let planned = lock == nil ? "" : "it is not supported yet, and would lock nothing; "
        throw table.error(.lockOn, "cannot have \"\(name)\": \(planned)what works is \(names)")
      }
    }
  }
}

/// The reaction to a session that has ended, so that the user has to sign in again: the value of the key `on_reauth`.
package enum ReauthPrompt: String, CaseIterable, Sendable {
  /// Only the status shows it.
  case none
  /// The user's browser is opened to sign in, once for each end of a session that was in use. If it ended before this
  /// process began or while it was locked, the browser is not opened.
  case browser
}
