package import HearthCore

extension HearthClient {
  /// The current state of an account, without secrets.
  public struct Session: Hashable, Sendable, CustomStringConvertible {
    public enum State: String, Hashable, Sendable, CaseIterable {
      /// The daemon has not read the credential yet.
      case hydrating
      /// The account may have a credential, but Hearth cannot currently use it.
      case locked
      /// The account is not signed in.
      case unauthenticated
      /// The session has ended. The user has to sign in again.
      case reauthRequired
      /// The account is signed in.
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

    /// An action that the user can take.
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
    /// The reason why the session is locked or nobody is signed in, as one word such as `lockedByUser` or
    /// `refreshTokenRejected`. `nil` in all other states.
    public var reason: String? { value.state.reason }
    /// A message for the user about the state and the next step.
    public var message: String { value.message }
    /// The action that the user can take, or `nil` if no action is needed.
    public var action: Action? { value.action.map(Action.init) }
    /// The user's id at the provider.
    public var subject: String? { value.subject?.id }
    /// The time at which the session entered its current state.
    public var since: Time { Time(value.since) }
    /// The time at which the current token expires, or `nil` if there is no token or its expiry is unknown.
    public var expiresAt: Time? { value.token?.expiresAt.map(Time.init) }
    /// The fingerprint of the current token. It is not a secret.
    public var fingerprint: String? { value.token?.fingerprint.description }
    public var description: String { "\(account), \(state): \(message)" }
  }
}
