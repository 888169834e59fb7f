import HearthControl
import HearthCore

/// What one check found.
struct Finding: Equatable {
  enum Verdict: Equatable {
    case good
    /// Worth a look; nothing fails for it.
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
  }

  let verdict: Verdict
  let check: String
  let message: String

  init(_ verdict: Verdict, _ check: String, _ message: String) {
    self.verdict = verdict
    self.check = check
    self.message = message
  }

  init(_ session: SessionStatus) {
    let status = ExitStatus(session)
    let text = "\(session.account): \(session.message)"
    let endsWithToken = session.token.map { $0.expiresAt != nil && $0.refreshAt == nil } ?? false
    if session.state == .authenticated, status == .later {
      let lack = session.token == nil ? "It has no token yet" : "Its token has run out"
      let why = session.history.lastError ?? "Nothing has come from the provider."
      self.init(
        .bad(status), "session",
        "\(session.account): \(lack), and Hearth goes on asking for one; \"hearthctl refresh \(session.account)\" asks at "
          + "once. \(why)")
    } else if status != .done {
      self.init(.bad(status), "session", text)
    } else if session.history.failures > 0 || session.action != nil || session.isWritePending || endsWithToken {
      let error = session.history.lastError.flatMap { text.contains($0) ? nil : " \($0)" } ?? ""
      self.init(.doubtful, "session", text + error)
    } else {
      self.init(.good, "session", text)
    }
  }

  init(_ diagnosis: Diagnosis, of account: AccountName) {
    let verdict: Verdict =
      switch (diagnosis.verdict, diagnosis.check) {
      case (.ok, _): .good
      case (.warning, _): .doubtful
      // What is about the network or a server may be better later.
      case (.problem, .providerName), (.problem, .providerConnection), (.problem, .providerAnswer),
        (.problem, .apiName),
        (.problem, .apiConnection):
        .bad(.later)
      case (.problem, .discovery), (.problem, .clock), (.problem, .token), (.problem, .apiAnswer),
        (.problem, .sink):
        .bad(.failed)
      }
    self.init(verdict, diagnosis.check.rawValue, "\(account): \(diagnosis.message)")
  }

  var json: JSON {
    ["check": .string(check), "verdict": .string(verdict.word), "message": .string(message)]
  }

  func text(_ paint: Paint) -> String {
    let colour: Paint.Colour =
      switch verdict {
      case .good: .green
      case .doubtful: .yellow
      case .bad: .red
      }
    return paint(colour, verdict.word.padded(to: 9)) + check.padded(to: 20) + message.shown()
  }
}
