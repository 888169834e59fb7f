/// What the configuration says of one account's session.
package struct SessionSettings: Hashable, Sendable {
  package var refresh: RefreshSettings
  /// `lock_on = ["unreadable"]`: a file that cannot be read locks at once, not when the token has run out.
  package var locksWhenUnreadable: Bool
  /// The provider gives a new token without a refresh token (RFC 6749, section 4.4).
  package var renewsWithoutRefreshToken: Bool
  package var bearer: BearerKind
  /// Whose the session is where the provider does not tell.
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
