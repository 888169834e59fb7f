/// The contract's terms for each state: its name and reason, what a user interface shows, what a person should do.
extension SessionState {
  /// What a person should do. The raw value is the `action` of the status.
  package enum Action: String, Sendable, CaseIterable {
    case wait, unlock, signIn, fixConfiguration
  }

  /// Which screen a user interface shows. The raw value is the `route` of the status.
  package enum Route: String, Sendable, CaseIterable {
    case loading, locked, onboarding, signIn, main
  }

  /// The state that has this name and this reason; nil where this version knows none. `detail` goes to a state that
  /// says why a credential cannot be read.
  package init?(name: String, reason: String?, detail: String = "") {
    let states = Self.all(detail: detail)
    guard let state = states.first(where: { $0.name == name && $0.reason == reason }) else { return nil }
    self = state
  }

  /// The names that the states have.
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

  /// What is, and what to do about it. `detail` is what is known beyond the reason, where it helps.
  package func message(for account: AccountName, detail: String? = nil) -> String {
    switch self {
    case .hydrating: "The credential is being read."
    case .locked(.explicit(let lock)): lock.message(for: account)
    case .locked(.accessFailure(let accessFailure)):
      switch accessFailure.kind {
      case .passphraseRequired: "Locked by its passphrase. Run \"hearthctl unlock \(account)\"."
      case .keyUnavailable, .permissionDenied, .volumeUnavailable, .storageError:
        "The credential cannot be read now (\(accessFailure.detail)); nothing is lost, Hearth goes on by itself."
      }
    case .unauthenticated(let signedOut):
      signedOut
        ? "You signed out. Run \"hearthctl login \(account)\" to sign in."
        : "Sign in required. Run \"hearthctl login \(account)\"."
    case .reauthRequired(let reason): "\(detail ?? reason.sentence) Run \"hearthctl login \(account)\"."
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
    case .noRefreshToken: "Your session has expired and cannot be renewed."
    case .rejectedByServer: "Your session was refused by the server."
    case .accountDisabled: "Your account was disabled by the provider."
    case .credentialMissing: "The credential was removed."
    case .credentialCorrupt: "The credential cannot be understood and was set aside."
    case .credentialTooNew: "The credential was written by a newer version of Hearth."
    }
  }
}
