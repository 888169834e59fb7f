import HearthCore

/// The output of `doctor`: a line for each problem, and one line for all checks that passed.
struct DoctorReport {
  let findings: [Finding]
  let columns: Int
  let paint: Paint

  private static let indent = 9

  /// All findings, in the order of the checks.
  var whole: String { lines(findings.map { ($0.verdict, "\($0.check): \($0.sentence)") }) }

  /// The problems, then the warnings, then the checks that passed, and finally advice.
  var text: String {
    let failing = Set(findings.filter { $0.verdict != .good }.map(\.check))
    let fine = findings.map(\.check).reduce(into: [String]()) { names, name in
      if !failing.contains(name), !names.contains(name) { names.append(name) }
    }
    var entries = causes.map { finding, accounts in
      let names = accounts.isEmpty ? "" : accounts.map(\.description).joined(separator: ", ") + ": "
      return (finding.verdict, "\(finding.check): \(names)\(finding.message)")
    }
    if !fine.isEmpty { entries.append((.good, fine.joined(separator: ", "))) }
    var parts = [lines(entries)]
    if let steps = refusedTokens { parts.append(steps) }
    if let advice = TroubleshootingSection.advice(for: findings) { parts.append(advice.hanging(0, within: columns)) }
    return parts.joined(separator: "\n")
  }

  /// The problems and then the warnings. One that affects several accounts is listed once. If a provider is
  /// unreachable, the resulting problems of its sessions are omitted.
  private var causes: [(finding: Finding, accounts: [AccountName])] {
    let cutOff = Set(findings.filter { $0.isAboutProvider && $0.verdict != .good }.compactMap(\.account))
    var causes: [(finding: Finding, accounts: [AccountName])] = []
    for finding in findings where finding.verdict != .good {
      if finding.follows, let account = finding.account, cutOff.contains(account) { continue }
      let known = causes.firstIndex { cause, _ in
        cause.verdict == finding.verdict && cause.check == finding.check && cause.message == finding.message
      }
      if let known {
        if let account = finding.account, !causes[known].accounts.contains(account) {
          causes[known].accounts.append(account)
        }
      } else {
        causes.append((finding, [finding.account].compactMap(\.self)))
      }
    }
    return causes.filter { $0.finding.verdict != .doubtful } + causes.filter { $0.finding.verdict == .doubtful }
  }

  /// Instructions for the user if an API rejects fresh tokens.
  private var refusedTokens: String? {
    guard let finding = findings.first(where: \.isAboutRefusedToken), let account = finding.account else { return nil }
    let steps = [
      "If an API keeps answering 401, check in this order:",
      "1. The API: to see which API rejects the token, and why, run \"hearthctl status \(account) --log\" and "
        + "\"hearthctl request \(account) GET URL -i\".",
      "2. The audience: \"hearthctl doctor --all\" shows the token's audience and the configured one. If either names "
        + "another API, run \"hearthctl account set \(account) token_parameters audience=URL\".",
      "3. The scopes: if one is missing, run \"hearthctl account set \(account) --add scopes SCOPE\".",
      "4. The clock: the check \"clock\" must pass, and the API's clock must also be right.",
      "Then run \"hearthctl login \(account)\". A token keeps the audience and scopes of its sign-in.",
    ]
    return steps.enumerated().map { number, step in
      step.hanging(0 < number && number < steps.count - 1 ? 3 : 0, within: columns)
    }.joined(separator: "\n")
  }

  private func lines(_ entries: [(verdict: Finding.Verdict, text: String)]) -> String {
    entries.map { entry in
      paint(entry.verdict.colour, entry.verdict.word.padded(to: Self.indent))
        + entry.text.shown().hanging(Self.indent, within: columns)
    }.joined(separator: "\n")
  }
}

extension Finding {
  private static let providerChecks: Set<Diagnosis.Check> = [
    .providerName, .providerConnection, .providerAnswer, .discovery,
  ]

  fileprivate var isAboutProvider: Bool {
    Diagnosis.Check(rawValue: check).map(Self.providerChecks.contains) ?? false
  }

  /// Whether an unreachable provider may have caused the finding.
  fileprivate var follows: Bool { check == Self.session && (verdict == .doubtful || verdict == .bad(.later)) }

  fileprivate var isAboutRefusedToken: Bool {
    isRejectedByServer || verdict != .good && check == Diagnosis.Check.apiAnswer.rawValue
  }
}
