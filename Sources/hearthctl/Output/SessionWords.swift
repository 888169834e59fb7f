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
    case .signIn: "hearthctl login \(account)"
    case .unlock: "hearthctl unlock \(account)"
    case .fixConfiguration: "hearthctl account edit"
    case .wait, nil:
      switch state {
      // Hearth retries automatically, but a user who has fixed the cause need not wait.
      case .locked(.accessFailure): "hearthctl retry \(account)"
      case .authenticated: history.failures > 0 ? "hearthctl retry \(account)" : nil
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
