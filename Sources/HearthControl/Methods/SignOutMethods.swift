package import HearthCore

package struct SignOut: ControlMethod {
  /// What to do with the items in the account's outbox.
  package enum Items: String, CaseIterable, Sendable {
    case keep, discard
  }

  package static let declaration = MethodDeclaration<SignedOut>(
    "session.signOut", "Sign out: remove the credential and revoke the grant, later if the provider is unreachable.",
    errors: [.locked, .unknownAccount, .storageUnavailable])
  package static let parameters = Fields<SignOut>(
    .required("account", \.account, .account), .optional("revoke", \.revoke, .bool, default: true),
    .optional("outbox", \.outbox, .choice, default: .keep),
    .optional("everywhere", \.everywhere, .bool, omitting: false), make: Self.init)

  package let account: AccountName
  package let revoke: Bool
  package let outbox: Items
  /// Whether to return the URL of the page where the browser can end the user's session at the provider.
  package let everywhere: Bool

  package init(_ account: AccountName, revoke: Bool = true, outbox: Items = .keep, everywhere: Bool = false) {
    (self.account, self.revoke, self.outbox, self.everywhere) = (account, revoke, outbox, everywhere)
  }
}

package struct SignedOut: WireValue {
  package enum Revocation: Hashable, Sendable {
    /// The provider has confirmed that it revoked the grant.
    case done
    /// The revocation is not complete, for example because the provider could not be reached. Hearth will retry.
    case later
    /// The provider did not confirm a revocation, and Hearth will not retry, for example because there was no grant,
    /// the caller did not ask for it, or the provider refused.
    case none
  }

  /// The page where the browser ends the user's session at the provider (OpenID Connect RP-Initiated Logout 1.0,
  /// section 2).
  package enum EndSession: Hashable, Sendable {
    case url(String)
    /// The page does not exist or could not be determined. The associated value is a sentence that says why.
    case missing(String)
  }

  package static let fields = Fields<SignedOut>(
    .all(\.status, SessionStatus.fields), .required("revoked", \.isRevoked, .bool),
    .optional("revokesLater", \.revokesLater, .bool, omitting: false),
    .optional("endSessionUrl", \.endSessionURL, .text, omitting: ""),
    .optional("endSessionError", \.endSessionError, .text, omitting: ""), make: Self.init)

  package let status: SessionStatus
  package let revocation: Revocation
  /// The page, or `nil` if the caller did not ask for it.
  package let endSession: EndSession?

  package init(_ status: SessionStatus, revocation: Revocation, endSession: EndSession? = nil) {
    (self.status, self.revocation, self.endSession) = (status, revocation, endSession)
  }

  private init(status: SessionStatus, isRevoked: Bool, revokesLater: Bool, url: String, error: String) {
    self.init(
      status, revocation: isRevoked ? .done : revokesLater ? .later : .none,
      endSession: !url.isEmpty ? .url(url) : error.isEmpty ? nil : .missing(error))
  }

  private var isRevoked: Bool { revocation == .done }
  private var revokesLater: Bool { revocation == .later }
  private var endSessionURL: String { if case .url(let url)? = endSession { url } else { "" } }
  private var endSessionError: String { if case .missing(let sentence)? = endSession { sentence } else { "" } }
}
