/// The configuration of one account's session.
package struct SessionSettings: Hashable, Sendable {
  package var refresh = RefreshSettings()
  /// The locks that apply to the account: the user's own lock, and the locks in `lock_on`.
  package var locks: Set<Lock> = [.user]
  /// Whether an unreadable file locks the session immediately instead of when the token expires (`lock_on =
  /// ["unreadable"]`).
  package var locksWhenUnreadable = false
  /// Whether the provider issues new tokens without a refresh token (RFC 6749, section 4.4).
  package var renewsWithoutRefreshToken = false
  package var bearer = BearerKind.accessToken
  /// The configured issuer, which clients see while the subject is unknown.
  package var issuer: String?
  /// The session's user, for a provider that does not report one.
  package var configuredSubject: Subject?
  /// The user's name in other programs, such as git.
  package var username: String?
  /// The origins that grants are bound to, or `nil` if grants are not bound.
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

  /// The `lock_on` value for an unreadable credential file.
  private static let unreadable = "unreadable"

  /// Reads the session's keys from an account's table.
  package init(reading table: TableReader<Key>) throws {
    self.init()
    username = try table.string(.username)
    if let username, username.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
      throw table.error(.username, "must not contain control characters")
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
        let planned = lock == nil ? "" : "it is not supported yet; "
        throw table.error(.lockOn, "cannot contain \"\(name)\": \(planned)the supported values are \(names)")
      }
    }
  }
}

/// What to do when a session has ended and the user has to sign in again (`on_reauth`).
package enum ReauthPrompt: String, CaseIterable, Sendable {
  /// Only show the end in the status.
  case none
  /// Open the user's browser when a session ends while in use, unless there is no display or a sign-in is in
  /// progress. The browser is not opened for a session that ended before the daemon started or while locked.
  case browser
}
