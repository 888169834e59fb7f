import HearthCore

/// A section of etc/docs/troubleshooting.md. The raw value is the heading.
enum TroubleshootingSection: String, CaseIterable {
  case noDaemon = "No daemon"
  case locked = "The session is locked"
  case signIn = "You have to sign in again"
  case provider = "The provider says no"
  case api = "An API rejects the token"
  case refresh = "The token is never refreshed"
  case clock = "The clock is wrong"
  case outbox = "Nothing is delivered"

  /// Returns the section that explains a finding, or `nil` if no section does.
  init?(_ finding: Finding) {
    switch (finding.check, finding.verdict) {
    case (_, .good): return nil
    case ("unit", _), ("socket", .bad), ("configuration", .bad), ("daemon", .bad): self = .noDaemon
    case ("session", .bad(.locked)): self = .locked
    case ("session", .bad(.signInNeeded)): self = .signIn
    case ("session", .bad): self = .provider
    case ("session", .doubtful): self = .refresh
    case ("outbox", _): self = .outbox
    default:
      switch Diagnosis.Check(rawValue: finding.check) {
      case .providerName, .providerConnection, .providerAnswer, .discovery, .apiName, .apiConnection: self = .provider
      case .token, .apiAnswer: self = .api
      case .clock: self = .clock
      case .sink, nil: return nil
      }
    }
  }

  /// Returns a line with the names of the sections for these findings, in the order of the page.
  static func advice(for findings: [Finding]) -> String? {
    let sections = Set(findings.compactMap(Self.init))
    guard !sections.isEmpty else { return nil }
    let names = allCases.filter(sections.contains).map { "\"\($0.rawValue)\"" }
    return "For help, see \(names.joined(separator: ", ")) in \"hearthctl docs troubleshooting\"."
  }
}
