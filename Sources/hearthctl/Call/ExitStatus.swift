import HearthClient
import HearthControl
import HearthCore

enum ExitStatus: Int32 {
  case done = 0
  /// The command failed. stderr contains the reason.
  case failed = 1
  case signInNeeded = 3
  case locked = 4
  /// The command failed but may succeed later.
  case later = 5
  case noDaemon = 6
  case usage = 64
  /// The program of `exec` exists but cannot be run.
  case programUnusable = 126
  case programMissing = 127
  /// The user pressed Ctrl-C. Shells report this value for SIGINT.
  case interrupted = 130

  init(_ session: SessionStatus) {
    switch session.state {
    case .authenticated: self = session.token.map { $0.health(at: .now) != .expired } == true ? .done : .later
    case .locked: self = .locked
    case .hydrating: self = .later
    case .unauthenticated, .reauthRequired: self = .signInNeeded
    }
  }

  init(_ error: RPCError) {
    switch error.kind {
    // A retry would not help, for example because the answer was too long.
    case .requestFailed where !error.isRetryable: self = .failed
    case .unauthenticated, .reauthRequired: self = .signInNeeded
    case .locked, .wrongPassphrase, .passphraseNeeded: self = .locked
    case .refreshUnavailable, .requestFailed, .outboxFull, .storageUnavailable, .shuttingDown, .overloaded:
      self = .later
    case .parseError, .invalidRequest, .methodNotFound, .invalidParams, .internalError, .unknownAccount,
      .originNotAllowed, .challenge, .unknownItem, .invalidItemState, .idempotencyConflict, .signInFailed,
      .signInExpired,
      .signInDenied, .unknownSignIn, .flowNotSupported:
      self = .failed
    case nil: self = error.isRetryable ? .later : .failed
    }
  }

  init(_ failure: ControlClient.Failure) {
    switch failure {
    case .noDaemon, .forbidden: self = .noDaemon
    case .timedOut, .disconnected, .interrupted: self = .later
    case .unreachable, .foreignServer, .notUnderstood, .unknownResult: self = .failed
    case .refused(let error): self = ExitStatus(error)
    }
  }

  static func worst(_ statuses: some Sequence<ExitStatus>) -> ExitStatus {
    let order: [ExitStatus] = [.done, .later, .locked, .signInNeeded, .failed, .noDaemon, .usage]
    return statuses.max { order.firstIndex(of: $0)! < order.firstIndex(of: $1)! } ?? .done
  }
}

/// An error that ends the program with an exit status and a message on stderr.
struct CommandFailure: Error, Equatable {
  let status: ExitStatus
  /// The message, or `nil` if everything has already been printed.
  let message: String?

  init(_ status: ExitStatus, _ message: String?) {
    self.status = status
    self.message = message
  }
}
