/// The state of a session, as clients see it.
package enum SessionState: Hashable, Sendable {
  /// The credential has not been read yet.
  case hydrating
  /// A credential exists, or may exist, but cannot be used now.
  case locked(LockReason)
  /// There is no credential.
  case unauthenticated(signedOut: Bool)
  /// The session has ended, so the user has to sign in again.
  case reauthRequired(EndReason)
  /// A grant is in use, or the client's own first grant is due or has been requested.
  case authenticated
}

package enum LockReason: Hashable, Sendable {
  case explicit(Lock)
  case accessFailure(AccessFailure)
}

/// The reason why a credential cannot be read or written now. The credential itself is never lost.
package struct AccessFailure: Hashable, Sendable, Error {
  /// The kind of failure. The raw value is the `reason` in the status.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case passphraseRequired, keyUnavailable, permissionDenied, volumeUnavailable, storageError
  }

  package let kind: Kind
  /// What went wrong, as part of a sentence and without secrets.
  package let detail: String

  package init(_ kind: Kind, detail: String) { (self.kind, self.detail) = (kind, detail) }
}

/// The names and values of each state in the control protocol.
extension SessionState {
  /// What the user should do. The raw value is the `action` in the status.
  package enum Action: String, Sendable, CaseIterable {
    case wait, unlock, signIn, fixConfiguration

    /// The command that carries out the action.
    package func command(for account: AccountName) -> String {
      switch self {
      case .signIn: "hearthctl login \(account)"
      case .unlock: "hearthctl unlock \(account)"
      case .fixConfiguration: "hearthctl account edit"
      // Hearth retries automatically, but a user who has fixed the cause need not wait.
      case .wait: "hearthctl retry \(account)"
      }
    }

    /// Returns a sentence such as `Run "hearthctl login work" to sign in.`
    package func advice(_ account: AccountName, _ purpose: String? = nil) -> String {
      "Run \"\(command(for: account))\"\(purpose.map { " " + $0 } ?? "")."
    }
  }

  /// The screen that a user interface shows. The raw value is the `route` in the status.
  package enum Route: String, Sendable, CaseIterable {
    case loading, locked, onboarding, signIn, main
  }

  /// Creates the state with this name and reason. Returns `nil` if this version does not know the combination. `detail`
  /// is used only for an access failure.
  package init?(name: String, reason: String?, detail: String = "") {
    let states = Self.all(detail: detail)
    guard let state = states.first(where: { $0.name == name && $0.reason == reason }) else { return nil }
    self = state
  }

  package static var names: [String] {
    all(detail: "").map(\.name).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  private static func all(detail: String) -> [SessionState] {
    [.hydrating, .authenticated, .unauthenticated(signedOut: false), .unauthenticated(signedOut: true)]
      + Lock.allCases.map { .locked(.explicit($0)) }
      + AccessFailure.Kind.allCases.map { .locked(.accessFailure(AccessFailure($0, detail: detail))) }
      + EndReason.allCases.map { .reauthRequired($0) }
  }

  package var name: String {
    switch self {
    case .hydrating: "hydrating"
    case .locked: "locked"
    case .unauthenticated: "unauthenticated"
    case .reauthRequired: "reauthRequired"
    case .authenticated: "authenticated"
    }
  }

  package var reason: String? {
    switch self {
    case .hydrating, .authenticated: nil
    case .locked(.explicit(let lock)): lock.rawValue
    case .locked(.accessFailure(let accessFailure)): accessFailure.kind.rawValue
    case .unauthenticated(let signedOut): signedOut ? EndReason.signedOut.rawValue : "neverSignedIn"
    case .reauthRequired(let reason): reason.rawValue
    }
  }

  package var route: Route {
    switch self {
    case .hydrating: .loading
    case .locked: .locked
    case .unauthenticated: .onboarding
    case .reauthRequired: .signIn
    case .authenticated: .main
    }
  }

  package var action: Action? {
    switch self {
    case .hydrating: .wait
    case .locked(.explicit(let lock)): lock.action
    case .locked(.accessFailure(let accessFailure)): accessFailure.kind == .passphraseRequired ? .unlock : .wait
    case .unauthenticated, .reauthRequired: .signIn
    case .authenticated: nil
    }
  }

  /// Returns a sentence about the state and what to do. For an ended or active session, `detail` replaces the general
  /// sentence.
  package func message(for account: AccountName, detail: String? = nil) -> String {
    let signIn = Action.signIn.advice(account)
    return switch self {
    case .hydrating: "Hearth is reading the credential."
    case .locked(.explicit(let lock)): lock.message(for: account)
    case .locked(.accessFailure(let accessFailure)):
      switch accessFailure.kind {
      case .passphraseRequired: "Locked by its passphrase. \(Action.unlock.advice(account))"
      case .keyUnavailable, .permissionDenied, .volumeUnavailable, .storageError:
        "The credential cannot be read now (\(accessFailure.detail)); nothing is lost, Hearth goes on by itself."
      }
    case .unauthenticated(let signedOut):
      signedOut
        ? "You signed out. \(Action.signIn.advice(account, "to sign in"))" : "Sign in required. \(signIn)"
    case .reauthRequired(let reason): "\(detail ?? reason.sentence) \(signIn)"
    case .authenticated: detail ?? "Signed in."
    }
  }
}

extension EndReason {
  fileprivate var sentence: String {
    switch self {
    case .signedOut: "You signed out."
    case .refreshTokenRejected: "Your session was ended by the provider."
    case .refreshTokenExpired: "Your session has expired."
    case .noRefreshToken: "Your session has expired, because it has no refresh token."
    case .rejectedByServer: "Your session was rejected by an API."
    case .accountDisabled: "Your account was disabled or deleted by the provider."
    case .credentialMissing: "The credential was removed."
    case .credentialCorrupt: "The credential file cannot be understood, so Hearth renamed it."
    case .credentialTooNew: "The credential was written by a newer version of Hearth."
    }
  }
}
