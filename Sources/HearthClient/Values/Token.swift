package import HearthControl
import HearthCore

extension HearthClient {
  /// A token for an account's APIs. It does not print itself: only ``reveal()`` and ``authorization`` give it away.
  public struct Token: Sendable, CustomStringConvertible, CustomReflectable {
    package let value: GivenToken

    public var account: String { value.account.description }
    /// Its public name: the first 8 hex digits of its SHA-256.
    public var fingerprint: String { value.bearer.token.fingerprint.description }
    /// It is nil where it names no expiry.
    public var expiresAt: Time? { value.bearer.expiresAt.map(Time.init) }
    /// The user, as the provider names them.
    public var subject: String? { value.bearer.subject?.id }

    /// The token itself.
    public func reveal() -> String { value.bearer.token.secret.reveal() }
    /// What the header `Authorization` holds: `Bearer …`.
    public var authorization: String { "\(value.bearer.type) \(reveal())" }

    public var description: String { "<token \(fingerprint)>" }
    public var customMirror: Mirror { Mirror(self, children: ["fingerprint": fingerprint]) }
  }
}
