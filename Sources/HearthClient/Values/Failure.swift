import HearthControl
import HearthCore

extension HearthClient {
  /// Why a call failed. Its description is one sentence for people, from the daemon if it answered, and contains no secret.
  public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
      /// Nothing listens on the socket, or its path is unknown.
      case noDaemon
      /// The socket exists but cannot be used.
      case unreachable
      /// The server runs as another user. Nothing was sent to it.
      case foreignServer
      /// No answer came in time. The daemon may still carry out the call.
      case timedOut
      /// The connection ended before the answer came. The daemon may have carried out the call.
      case disconnected
      /// This version does not understand the answer.
      case notUnderstood
      /// The daemon answered with an error that this version does not know: see ``Failure/code``.
      case unknown

      // The daemon's errors (JSON-RPC 2.0, section 5.1).
      case parseError, invalidRequest, methodNotFound, invalidParams, internalError
      case shuttingDown, overloaded
      /// Nobody is signed in (1001).
      case unauthenticated
      /// The session has ended: the user has to sign in again (1002).
      case reauthRequired
      /// The account is locked, or its credential cannot be read now (1003).
      case locked
      /// A new token is needed, and the provider cannot be asked now (1004): see ``Failure/retryAfter``.
      case refreshUnavailable
      /// The configuration has no such account (1005).
      case unknownAccount
      /// The address is not in the account's `api_origins` (1006).
      case originNotAllowed
      /// The API did not answer (1007).
      case requestFailed
      /// The API wants more than a fresh token, such as a stronger sign-in or another scope (1008): see ``Failure/challenge``.
      case challenge
      case outboxFull, unknownItem, invalidItemState
      /// The same key was used for other content (1104).
      case idempotencyConflict
      /// The disk is full or cannot be written: nothing was accepted (1105).
      case storageUnavailable
      case signInFailed, signInExpired, signInDenied, unknownSignIn, flowNotSupported
      case wrongPassphrase, passphraseNeeded
    }

    public let kind: Kind
    /// The daemon's error code, or `nil` if it did not answer.
    public let code: Int?
    public let description: String
    /// Whether the same call may succeed later without any action.
    public let isRetryable: Bool
    /// The account that the failure is about, if any.
    public let account: String?
    /// How long to wait before the next try, if the daemon knows.
    public let retryAfter: Duration?
    /// What the API wants, if it wants more than a fresh token.
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

    /// The sentence, without advice that applies only to hearthctl.
    private static func sentence(of failure: ControlClient.Failure) -> String {
      switch failure {
      case .timedOut:
        "The daemon did not answer in time: check it with \"systemctl --user status hearthd\"."
      case .disconnected, .interrupted:
        "The daemon closed the connection: find out why with \"systemctl --user status hearthd\"."
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
