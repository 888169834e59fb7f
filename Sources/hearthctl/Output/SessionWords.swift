import HearthCore

/// Describes a session's state to users. Programs should use `state` and `reason`.
extension SessionStatus {
  var words: String {
    switch state {
    case .authenticated where action == .signIn: "sign-in needed"
    case .authenticated where action == .fixConfiguration: "configuration error"
    case .authenticated:
      switch token?.health(at: .now) {
      case .fresh, .expiring: "signed in"
      case .expired: "token expired"
      case nil: "no token yet"
      }
    case .hydrating, .locked, .unauthenticated, .reauthRequired: state.words
    }
  }

  /// The command for the next step, or `nil` if the user has nothing to do.
  var next: String? {
    switch action {
    case .signIn, .unlock, .fixConfiguration: action?.command(for: account)
    case .wait, nil:
      switch state {
      case .locked(.accessFailure): SessionState.Action.wait.command(for: account)
      case .authenticated: history.failures > 0 ? SessionState.Action.wait.command(for: account) : nil
      case .hydrating, .locked, .unauthenticated, .reauthRequired: nil
      }
    }
  }
}

extension SessionState {
  var words: String {
    switch self {
    case .hydrating: "starting"
    case .locked(.explicit(.user)): "locked by you"
    case .locked(.explicit(.screen)): "locked with the screen"
    case .locked(.explicit(.suspend)): "locked while suspended"
    case .locked(.accessFailure(let failure)):
      switch failure.kind {
      case .passphraseRequired: "passphrase needed"
      case .keyUnavailable: "locked: key missing"
      case .permissionDenied: "locked: access denied"
      case .volumeUnavailable: "locked: folder missing"
      case .storageError: "locked: storage error"
      }
    case .unauthenticated(signedOut: true): "signed out"
    case .unauthenticated(signedOut: false), .reauthRequired: "sign-in needed"
    case .authenticated: "signed in"
    }
  }
}
