package import HearthCore

extension HearthClient {
  /// A token for an account's APIs. Printing a `Token` does not reveal the secret, which only ``reveal()`` and
  /// ``authorization`` return.
  public struct Token: Sendable, CustomStringConvertible, CustomReflectable {
    package let value: Bearer

    public var account: String { value.account.description }
    /// The first 8 hex digits of the token's SHA-256. The fingerprint is not a secret.
    public var fingerprint: String { value.token.fingerprint.description }
    /// The time at which the token expires, or `nil` if the expiry is unknown.
    public var expiresAt: Time? { value.expiresAt.map(Time.init) }
    /// The user's id at the provider.
    public var subject: String? { value.subject?.id }

    /// Returns the secret token.
    public func reveal() -> String { value.token.secret.reveal() }
    /// The value for the `Authorization` header: `Bearer …`.
    public var authorization: String { "\(value.type) \(reveal())" }

    public var description: String { "<token \(fingerprint)>" }
    public var customMirror: Mirror { Mirror(self, children: ["fingerprint": fingerprint]) }
  }
}
