import HearthClient
import HearthControl
import HearthCore

/// How hearthctl ends.
enum ExitStatus: Int32, CaseIterable {
  case done = 0
  /// stderr says why.
  case failed = 1
  case signInNeeded = 3
  case locked = 4
  /// Cannot now, later may work.
  case later = 5
  case noDaemon = 6
  case usage = 64
  /// Given up with Ctrl-C, as a shell says it of a program that SIGINT ends.
  case interrupted = 130

  /// What a session's state means for a command that asked for it.
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
    // The answer was too long: it will be as long again.
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
    case .noDaemon: self = .noDaemon
    case .timedOut, .disconnected, .interrupted: self = .later
    case .unreachable, .foreignServer, .notUnderstood, .unknownResult: self = .failed
    case .refused(let error): self = ExitStatus(error)
    }
  }

  /// The status of several accounts is that which most needs somebody.
  static func worst(_ statuses: some Sequence<ExitStatus>) -> ExitStatus {
    let order: [ExitStatus] = [.done, .later, .locked, .signInNeeded, .failed, .noDaemon, .usage]
    return statuses.max { order.firstIndex(of: $0)! < order.firstIndex(of: $1)! } ?? .done
  }
}

/// Ends the program with this exit status; the message goes to stderr.
struct CommandFailure: Error, Equatable {
  let status: ExitStatus
  /// It is nil if everything is on the screen already.
  let message: String?

  init(_ status: ExitStatus, _ message: String?) {
    self.status = status
    self.message = message
  }
}
