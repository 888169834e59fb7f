package import HearthCore

extension HearthClient {
  /// The current state of an account, without secrets.
  public struct Session: Hashable, Sendable, CustomStringConvertible {
    /// The state, for a user interface.
    public enum State: String, Hashable, Sendable, CaseIterable {
      /// The credential has not been read yet.
      case hydrating
      /// A credential exists, or may exist, but cannot be used now.
      case locked
      /// Nobody has signed in.
      case unauthenticated
      /// The session has ended: the user has to sign in again.
      case reauthRequired
      /// Signed in.
      case authenticated

      init(_ state: SessionState) {
        switch state {
        case .hydrating: self = .hydrating
        case .locked: self = .locked
        case .unauthenticated: self = .unauthenticated
        case .reauthRequired: self = .reauthRequired
        case .authenticated: self = .authenticated
        }
      }
    }

    /// What the user can do about the state.
    public enum Action: String, Hashable, Sendable, CaseIterable {
      case wait, unlock, signIn, fixConfiguration

      init(_ action: SessionState.Action) {
        switch action {
        case .wait: self = .wait
        case .unlock: self = .unlock
        case .signIn: self = .signIn
        case .fixConfiguration: self = .fixConfiguration
        }
      }
    }

    package let value: SessionStatus

    public var account: String { value.account.description }
    public var state: State { State(value.state) }
    /// Why the session is locked, ended or signed out, in one word: `lockedByUser`, `refreshTokenRejected`, …
    public var reason: String? { value.state.reason }
    /// One sentence for people: the state, and what to do.
    public var message: String { value.message }
    /// What the user can do, or `nil` if there is nothing to do.
    public var action: Action? { value.action.map(Action.init) }
    /// The user's id at the provider.
    public var subject: String? { value.subject?.id }
    /// When the session entered this state.
    public var since: Time { Time(value.since) }
    /// When the current token expires, or `nil` if there is none or its expiry is unknown.
    public var expiresAt: Time? { value.token?.expiresAt.map(Time.init) }
    /// The fingerprint of the current token, which is not a secret.
    public var fingerprint: String? { value.token?.fingerprint.description }
    public var description: String { "\(account), \(state): \(message)" }
  }
}
