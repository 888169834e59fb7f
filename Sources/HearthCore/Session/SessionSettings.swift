/// What the configuration says about one account's session.
package struct SessionSettings: Hashable, Sendable {
  package var refresh: RefreshSettings
  /// The locks that the account obeys: the user's own, and those that `lock_on` names.
  package var locks: Set<Lock>
  /// `lock_on = ["unreadable"]`: a file that cannot be read locks at once, not when the token has run out.
  package var locksWhenUnreadable: Bool
  /// The provider gives a new token without a refresh token (RFC 6749, section 4.4).
  package var renewsWithoutRefreshToken: Bool
  package var bearer: BearerKind
  /// The configured issuer, which clients see while the subject is not known.
  package var issuer: String?
  /// Whose the session is where the provider does not say.
  package var configuredSubject: Subject?
  /// Where grants belong; nil: to wherever they are sent.
  package var binding: TokenBinding?
  package var reauthPrompt = ReauthPrompt.none

  package init(
    refresh: RefreshSettings = RefreshSettings(), locks: Set<Lock> = [.user], locksWhenUnreadable: Bool = false,
    renewsWithoutRefreshToken: Bool = false, bearer: BearerKind = .accessToken, configuredSubject: Subject? = nil,
    binding: TokenBinding? = nil
  ) {
    self.refresh = refresh
    self.locks = locks
    self.locksWhenUnreadable = locksWhenUnreadable
    self.renewsWithoutRefreshToken = renewsWithoutRefreshToken
    self.bearer = bearer
    self.configuredSubject = configuredSubject
    self.binding = binding
  }
}

extension SessionSettings {
  package enum Key: String, ConfigurationKey {
    case lockOn = "lock_on"
    case onReauth = "on_reauth"
  }

  /// The word in `lock_on` for a credential file that cannot be read.
  private static let unreadable = "unreadable"

  /// Reads what an account's table says about locks, and about sessions that have ended.
  package init(reading table: TableReader<Key>) throws(ConfigurationError) {
    self.init()
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
