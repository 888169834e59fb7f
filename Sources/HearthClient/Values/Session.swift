package import HearthCore

extension HearthClient {
  /// An account as it is now, without its secrets.
  public struct Session: Hashable, Sendable, CustomStringConvertible {
    /// What a user interface shows.
    public enum State: String, Hashable, Sendable, CaseIterable {
      /// The credential has not been read yet.
      case hydrating
      /// There is a credential, and it cannot be used now.
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

    /// What the user can do about it.
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
    /// Why it is locked, ended or signed out, as one word: `lockedByUser`, `refreshTokenRejected`, …
    public var reason: String? { value.state.reason }
    /// One sentence for people: what is, and what to do.
    public var message: String { value.message }
    /// It is nil where nothing is to be done.
    public var action: Action? { value.action.map(Action.init) }
    /// The user, as the provider names them.
    public var subject: String? { value.subject?.id }
    /// Since when it is in this state.
    public var since: Time { Time(value.since) }
    /// When the token that is held expires; nil where none is held, or it names no expiry.
    public var expiresAt: Time? { value.token?.expiresAt.map(Time.init) }
    /// The public name of the token that is held.
    public var fingerprint: String? { value.token?.fingerprint.description }
    public var description: String { "\(account), \(state): \(message)" }
  }
}
