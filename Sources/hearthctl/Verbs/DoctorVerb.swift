import ArgumentParser
import HearthClient
import HearthControl
import HearthCore

struct DoctorVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Check the installation, the daemon and the sessions, and report what is wrong.",
    discussion: """
      For example:

        hearthctl doctor
        hearthctl doctor --all
        hearthctl doctor --bundle report.json
      """)

  @OptionGroup var daemonOptions: DaemonOptions

  @Option(
    help: ArgumentHelp(
      "New file for a support report with the checks, statuses, metrics and log. It contains the names of accounts, "
        + "users and servers, but no tokens.", valueName: "file"))
  var bundle: String?

  @Flag(help: "Print every check on its own line, including those that passed.")
  var all = false

  func run() throws {
    var findings = [Finding(.good, "version", "hearthctl \(HearthVersion.text)")]
    let path = try daemonOptions.socketPath
    let limits = try daemonOptions.limits(or: ControlClient.shortTimeout)
    if daemonOptions.socket == nil, variable("HEARTH_SOCKET") == nil, let units = Finding.units() {
      findings.append(units)
    }
    var report = Bundle()
    var known: DaemonInfo?
    var answers: [Finding]
    do {
      var daemon = try ControlClient(path: path, timeout: limits.call, connecting: limits.connecting)
      let info = try daemon.call(GetInfo()).value
      known = info
      answers = try ask(&daemon, info)
      if bundle != nil { report.ask(&daemon) }
    } catch let failure as ControlClient.Failure {
      answers = [Finding(.bad(ExitStatus(failure)), "daemon", failure.description)]
    }
    findings += files(known) + [.socket(path)] + answers
    if daemonOptions.json {
      daemonOptions.output.json(["checks": .array(findings.map(\.json))])
    } else {
      let report = DoctorReport(findings: findings, columns: Output.columns, paint: .standard)
      daemonOptions.output.painted(all ? report.whole : report.text)
    }
    if let bundle {
      report.findings = findings
      try report.write(to: bundle)
      Output.note("Wrote the report to \(bundle). It contains no tokens. Review it before you share it.")
    }
    let status = ExitStatus.worst(findings.map(\.verdict.status))
    guard status == .done else { throw CommandFailure(status, nil) }
  }

  /// Checks the files that the daemon reports. If `info` is `nil`, checks the files that a new daemon would use.
  private func files(_ info: DaemonInfo?) -> [Finding] {
    guard let info else { return Finding.paths(.ofThisProcess) }
    var findings: [Finding] = []
    if let path = info.path("configuration") {
      findings.append(.configuration(at: path, of: info))
    } else {
      findings.append(Finding(.doubtful, "configuration", "The daemon runs without a configuration"))
    }
    if let path = info.path("state") { findings.append(.state(at: path)) }
    return findings
  }

  private func ask(_ daemon: inout ControlClient, _ info: DaemonInfo) throws -> [Finding] {
    let since = info.startedAt.relative(to: .now)
    var findings = [Finding(.good, "daemon", "hearthd \(info.version), process \(info.pid), started \(since)")]
    if info.protocolNumber != HearthVersion.protocolNumber {
      findings.append(
        Finding(.bad(.failed), "protocol", "hearthd and hearthctl use different protocols. Update the older program."))
    } else if info.version != HearthVersion.text {
      findings.append(
        Finding(
          .doubtful, "version",
          "hearthd is version \(info.version), but hearthctl is version \(HearthVersion.text). If you have just "
            + "updated Hearth, restart hearthd."))
    }
    findings += (info.warnings ?? []).map { Finding(.doubtful, "daemon", $0) }
    let sessions = try daemon.call(ListSessions()).value.sessions
    if sessions.isEmpty {
      let advice = "Add one with \"hearthctl account add\"."
      findings.append(Finding(.doubtful, "accounts", "There are no accounts in the configuration. \(advice)"))
    }
    for session in sessions {
      findings.append(Finding(session))
      findings += try diagnose(session.account, &daemon)
      let stats = try daemon.outboxStats(of: session.account)
      if session == sessions.first {
        let unread = "The outbox cannot be read. Run \"hearthctl outbox stats\" to see why."
        let trouble = stats == nil ? unread : stats?.trouble
        if let trouble { findings.append(Finding(.doubtful, "outbox", trouble)) }
      }
      guard let stats, stats.dead + stats.held > 0, let next = stats.next(session.account) else { continue }
      findings.append(
        Finding(
          .doubtful, "outbox", "\(stats.dead) dead and \(stats.held) held items. Run \"\(next)\".",
          of: session.account))
    }
    return findings
  }

  /// The default timeout for all network checks of an account.
  private static let diagnosisTimeout: Duration = .seconds(120)

  /// Returns the daemon's checks of the account, such as those of the connections to its provider and APIs. Returns an
  /// empty array if the daemon refuses the call, for example because its version lacks these checks.
  private func diagnose(_ account: AccountName, _ daemon: inout ControlClient) throws -> [Finding] {
    do {
      let limit = daemonOptions.timeLimit ?? Self.diagnosisTimeout
      return try daemon.call(DiagnoseSession(account), within: limit).value.checks.map { Finding($0, of: account) }
    } catch ControlClient.Failure.refused {
      return []
    }
  }
}
