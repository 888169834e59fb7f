import HearthControl
import HearthCore

extension HearthClient {
  /// The reason why a call failed. The description is a message for the user and contains no secrets.
  public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: String, Hashable, Sendable, CaseIterable {
      /// Nothing listens on the socket, or its path cannot be determined.
      case noDaemon
      /// The socket cannot be used, for example because this process lacks permission.
      case unreachable
      /// The server runs as another user. Nothing was sent to it.
      case foreignServer
      /// The daemon did not answer in time. It may still carry out the call.
      case timedOut
      /// The connection ended before the answer arrived. The daemon may have carried out the call.
      case disconnected
      /// This version of the library cannot parse the answer.
      case notUnderstood
      /// The daemon returned an error that this version of the library does not know. See ``Failure/code``.
      case unknown

      // The errors that JSON-RPC 2.0 defines (section 5.1).
      case parseError, invalidRequest, methodNotFound, invalidParams, internalError
      case shuttingDown, overloaded
      /// The account is not signed in (1001).
      case unauthenticated
      /// The session has ended and the user has to sign in again, or another user signed in during the request (1002).
      case reauthRequired
      /// The account is locked, or the daemon has not read its credential yet (1003).
      case locked
      /// A new token is needed, but the provider is unavailable or the account's configuration must be fixed (1004).
      /// See ``Failure/retryAfter``.
      case refreshUnavailable
      /// The account is not in the configuration (1005).
      case unknownAccount
      /// The URL's origin is not in the account's `api_origins` (1006).
      case originNotAllowed
      /// The API did not respond, the connection broke, or the daemon cannot return the response, because it is too long
      /// or is HTML instead of JSON (1007).
      case requestFailed
      /// The API requires more than a fresh token, such as a stronger sign-in or more scopes (1008). See
      /// ``Failure/challenge``.
      case challenge
      case outboxFull, unknownItem, invalidItemState
      /// The idempotency key was already used for different content (1104).
      case idempotencyConflict
      /// The daemon cannot read or save its data, for example because the disk is full (1105).
      case storageUnavailable
      case signInFailed, signInExpired, signInDenied, unknownSignIn, flowNotSupported
      case wrongPassphrase, passphraseNeeded
    }

    public let kind: Kind
    /// The daemon's error code, or `nil` if the failure is not an error from the daemon.
    public let code: Int?
    public let description: String
    /// Whether the same call may succeed later without user action.
    public let isRetryable: Bool
    /// The account that the call was about, or `nil` if the daemon did not name an account.
    public let account: String?
    /// The time to wait before retrying, or `nil` if the daemon does not know.
    public let retryAfter: Duration?
    /// What the API requires in addition to a fresh token, or `nil` if the call failed for another reason.
    public let challenge: Challenge?

    init(_ failure: ControlClient.Failure) {
      description = Self.sentence(of: failure)
      guard case .refused(let error) = failure else {
        (kind, isRetryable) = Self.kind(of: failure)
        (code, account, retryAfter, challenge) = (nil, nil, nil, nil)
        return
      }
      kind = error.kind.flatMap { Kind(rawValue: $0.rawValue) } ?? .unknown
      (code, isRetryable, account) = (error.code, error.isRetryable, error.account)
      retryAfter = error.retryAfterSeconds.map { .seconds($0) }
      challenge = error.challenge.map { Challenge(value: $0) }
    }

    init(_ failure: SocketPath.Failure) {
      switch failure {
      case .unknown: (kind, description) = (.noDaemon, failure.description)
      case .tooLong: (kind, description) = (.unreachable, failure.description)
      }
      (code, isRetryable, account, retryAfter, challenge) = (nil, false, nil, nil, nil)
    }

    /// Returns the description, without advice that applies only to hearthctl.
    private static func sentence(of failure: ControlClient.Failure) -> String {
      switch failure {
      case .timedOut:
        "The daemon did not answer in time. Check it with \"systemctl --user status hearthd\"."
      case .disconnected, .interrupted:
        "The daemon closed the connection. To find out why, run \"systemctl --user status hearthd\"."
      case .noDaemon, .unreachable, .forbidden, .foreignServer, .notUnderstood, .unknownResult, .refused:
        failure.description
      }
    }

    private static func kind(of failure: ControlClient.Failure) -> (Kind, isRetryable: Bool) {
      switch failure {
      case .noDaemon: (.noDaemon, true)
      case .unreachable, .forbidden: (.unreachable, false)
      case .foreignServer: (.foreignServer, false)
      case .timedOut: (.timedOut, true)
      case .disconnected, .interrupted: (.disconnected, true)
      case .notUnderstood, .unknownResult: (.notUnderstood, false)
      case .refused(let error): (.unknown, error.isRetryable)
      }
    }
  }
}
