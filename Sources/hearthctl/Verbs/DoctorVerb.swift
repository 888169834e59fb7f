import ArgumentParser
import HearthControl

struct DoctorVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Check the installation, the daemon and the sessions, and say what is wrong.")

  @OptionGroup var daemonOptions: DaemonOptions

  func run() throws {
    var findings = [Finding(.good, "version", "hearthctl \(HearthVersion.text)")]
    let path = try daemonOptions.socketPath
    do {
      var daemon = try Daemon(path: path)
      let info = try daemon.call(.daemonGetInfo)
      findings += places(info["paths"])
      findings += PathChecks.socket(path)
      findings += try askDaemon(&daemon, info)
    } catch let failure as CommandFailure {
      findings += places(nil)
      findings += PathChecks.socket(path)
      findings.append(Finding(.bad(failure.status), "daemon", failure.message ?? "It does not answer."))
    }
    daemonOptions.output.show(["checks": .array(findings.map(\.json))]) {
      findings.map { $0.text(.standard) }.joined(separator: "\n")
    }
    let status = ExitStatus.worst(findings.map(\.verdict.status))
    guard status == .done else { throw CommandFailure(status, nil) }
  }

  /// `paths`: what a daemon that runs says it uses; nil: where it would look.
  private func places(_ paths: JSON?) -> [Finding] {
    guard let paths else { return PathChecks.configuration(variable) + PathChecks.state(variable) }
    var findings: [Finding] = []
    if let path = paths["configuration"]?.string {
      findings.append(PathChecks.configuration(at: path))
    } else {
      findings.append(Finding(.doubtful, "configuration", "The daemon runs without one"))
    }
    if let path = paths["state"]?.string { findings.append(PathChecks.state(at: path)) }
    return findings
  }

  private func askDaemon(_ daemon: inout Daemon, _ info: JSON) throws -> [Finding] {
    let version = info["version"]?.string ?? "of an unknown version"
    let process = info["pid"]?.int.map { ", process \($0)" } ?? ""
    let since = info["startedAt"]?.string.flatMap { Moment($0) }.map { ", started \($0.relative(to: .now))" } ?? ""
    var findings = [Finding(.good, "daemon", "hearthd \(version)\(process)\(since)")]
    if info["protocol"]?.int != HearthVersion.protocolNumber {
      findings.append(
        Finding(.bad(.failed), "protocol", "The daemon speaks another version of the protocol: update one of the two."))
    } else if version != HearthVersion.text {
      findings.append(Finding(.doubtful, "version", "The daemon is \(version), hearthctl \(HearthVersion.text)."))
    }
    let sessions = try daemon.sessions()
    if sessions.isEmpty {
      findings.append(Finding(.doubtful, "accounts", "There are no accounts in the configuration."))
    }
    for session in sessions {
      findings.append(Finding(session))
      let stats = try daemon.attempt(.outboxGetStats, ["account": .string(session.account)])
      guard let stats = (try? stats.get()).flatMap({ OutboxStatsReport(json: $0) }) else { continue }
      if stats.dead + stats.held > 0 {
        findings.append(
          Finding(
            .doubtful, "outbox", "\(session.account): \(stats.dead) dead, \(stats.held) held: see \"outbox list\"."))
      }
    }
    return findings
  }
}
