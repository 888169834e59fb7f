import HearthControl
import HearthCore

/// The contract's errors for requests that failed.
extension RPCError {
  /// Creates the error. `status` is the current status of the account's session.
  init(_ failure: RequestFailure, _ status: SessionStatus) {
    let account = status.account
    switch failure {
    case .invalidRequest(let why): self = .invalidParams("The parameter \(why).")
    case .unknownAccount(let account): self = .unknownAccount(account.description)
    case .originNotAllowed(let origin): self.init(Failure.originNotAllowed(origin, account))
    case .noSession: self = .state(status.state, status)
    case .otherUser: self = .otherUser(account)
    case .refreshUnavailable(let message, let retryAfter):
      self.init(SessionRejection.refreshUnavailable(message: message, retryAfter: retryAfter), status)
    case .unanswered(let message): self.init(.requestFailed, account: account, message: message)
    case .tooLong(let limit):
      self.init(
        .requestFailed, account: account,
        message:
          "The request was sent, but its response is longer than \(limit >> 20) MiB, the most that Hearth returns. "
          + "Request it in parts (with Range, or the API's pages).",
        isRetryable: false)
    case .challenge(let challenge): self = .challenge(challenge, account)
    case .withheld(let state): self = .state(state, status)
    case .stopping: self = .shuttingDown
    case .tooMany(let most):
      self = .overloaded(
        "\(most) requests of \(account) are already in flight. Try again when one of them is finished.")
    }
  }

  private static func otherUser(_ account: AccountName) -> RPCError {
    RPCError(
      .reauthRequired, account: account,
      message:
        "Another user signed in to \(account) during the request. Send it again if it should use that user's token.")
  }

  /// Returns an error if an answer that was fetched with the token of `subject` must be withheld, or `nil` if the
  /// answer may be returned.
  static func withholding(from status: SessionStatus, answerFor subject: Subject?) -> RPCError? {
    switch status.state {
    case .locked, .hydrating, .unauthenticated: return .state(status.state, status)
    case .authenticated, .reauthRequired: break
    }
    guard let subject, let current = status.subject, current != subject, status.formerSubject != subject else {
      return nil
    }
    return .otherUser(status.account)
  }
}
