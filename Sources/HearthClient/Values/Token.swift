package import HearthControl
import HearthCore

extension HearthClient {
  /// A token for an account's APIs. Printing it does not show the secret; only ``reveal()`` and ``authorization``
  /// return it.
  public struct Token: Sendable, CustomStringConvertible, CustomReflectable {
    package let value: GivenToken

    public var account: String { value.account.description }
    /// The token's fingerprint: the first 8 hex digits of its SHA-256. It is not a secret.
    public var fingerprint: String { value.bearer.token.fingerprint.description }
    /// When the token expires, or `nil` if that is unknown.
    public var expiresAt: Time? { value.bearer.expiresAt.map(Time.init) }
    /// The user's id at the provider.
    public var subject: String? { value.bearer.subject?.id }

    /// Returns the token itself.
    public func reveal() -> String { value.bearer.token.secret.reveal() }
    /// The value of the header `Authorization`: `Bearer …`.
    public var authorization: String { "\(value.bearer.type) \(reveal())" }

    public var description: String { "<token \(fingerprint)>" }
    public var customMirror: Mirror { Mirror(self, children: ["fingerprint": fingerprint]) }
  }
}
