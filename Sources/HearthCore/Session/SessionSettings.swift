/// What the configuration says about one account's session.
package struct SessionSettings: Hashable, Sendable {
  package var refresh: RefreshSettings
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

  package init(
    refresh: RefreshSettings = RefreshSettings(), locksWhenUnreadable: Bool = false,
    renewsWithoutRefreshToken: Bool = false, bearer: BearerKind = .accessToken, configuredSubject: Subject? = nil,
    binding: TokenBinding? = nil
  ) {
    self.refresh = refresh
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
  }

  /// Reads what an account's table says about locks. A value that Hearth does not know yet is refused: it would lock
  /// nothing, and somebody would rely on it.
  package init(reading table: TableReader<Key>) throws(ConfigurationError) {
    let triggers = try table.strings(.lockOn)
    for text in triggers where text != "unreadable" {
      let planned =
        ["screen-lock", "suspend"].contains(text)
        ? "it is not supported yet, and would lock nothing; " : ""
      throw table.error(.lockOn, "cannot have \"\(text)\": \(planned)what works is \"unreadable\"")
    }
    self.init(locksWhenUnreadable: !triggers.isEmpty)
  }
}
