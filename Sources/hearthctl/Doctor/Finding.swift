import HearthControl
import HearthCore

/// The result of one check.
struct Finding: Equatable {
  enum Verdict: Equatable {
    case good
    /// A warning: something is unusual, but Hearth still works.
    case doubtful
    case bad(ExitStatus)

    var status: ExitStatus {
      switch self {
      case .good, .doubtful: .done
      case .bad(let status): status
      }
    }

    var word: String {
      switch self {
      case .good: "ok"
      case .doubtful: "warning"
      case .bad: "problem"
      }
    }

    var colour: Paint.Colour {
      switch self {
      case .good: .green
      case .doubtful: .yellow
      case .bad: .red
      }
    }
  }

  static let session = "session"

  let verdict: Verdict
  let check: String
  /// The account that was checked, or `nil` if the finding is not about one account.
  let account: AccountName?
  let message: String
  /// Whether the session has ended because an API rejected the session's tokens.
  private(set) var isRejectedByServer = false

  init(_ verdict: Verdict, _ check: String, _ message: String, of account: AccountName? = nil) {
    self.verdict = verdict
    self.check = check
    self.account = account
    self.message = message
  }

  init(_ session: SessionStatus) {
    let status = ExitStatus(session)
    func finding(_ verdict: Verdict, _ message: String) -> Finding {
      Finding(verdict, Self.session, message, of: session.account)
    }
    let endsWithToken = session.token.map { $0.expiresAt != nil && $0.refreshAt == nil } ?? false
    if session.state == .authenticated, status == .later, session.action != .signIn {
      let lack =
        session.token == nil
        ? "The session has no token yet, and Hearth keeps requesting one."
        : "The token has expired, and Hearth keeps requesting a new one."
      let why = session.history.lastError ?? "The provider has not responded."
      self = finding(
        .bad(status),
        "\(lack) \(why) To retry now, run \"hearthctl retry \(session.account)\".")
    } else if status != .done {
      self = finding(.bad(status), session.message)
    } else if session.history.failures > 0 || session.action != nil || session.isWritePending || endsWithToken {
      let error = session.history.lastError.flatMap { session.message.contains($0) ? nil : " \($0)" } ?? ""
      self = finding(.doubtful, session.message + error)
    } else {
      self = finding(.good, session.message)
    }
    isRejectedByServer = session.state == .reauthRequired(.rejectedByServer)
  }

  init(_ diagnosis: Diagnosis, of account: AccountName) {
    let verdict: Verdict =
      switch (diagnosis.verdict, diagnosis.check) {
      case (.ok, _): .good
      case (.warning, _): .doubtful
      // Network and server problems may be temporary.
      case (.problem, .providerName), (.problem, .providerConnection), (.problem, .providerAnswer),
        (.problem, .apiName),
        (.problem, .apiConnection):
        .bad(.later)
      case (.problem, .discovery), (.problem, .clock), (.problem, .token), (.problem, .apiAnswer),
        (.problem, .sink):
        .bad(.failed)
      }
    self.init(verdict, diagnosis.check.rawValue, diagnosis.message, of: account)
  }

  /// The message, prefixed with the account.
  var sentence: String { account.map { "\($0): \(message)" } ?? message }

  var json: JSON {
    ["check": .string(check), "verdict": .string(verdict.word), "message": .string(sentence)]
  }
}
