import Glibc
import HearthControl
internal import HearthCore

/// Opens pages with the first command in `$BROWSER` that runs, or with xdg-open if `$BROWSER` contains no command.
///
/// Under systemd, the browser runs in a separate unit, because the daemon's unit is too restricted for a browser. The
/// user manager also knows the display of a graphical session that started after the daemon.
package struct DesktopBrowser: PageOpener {
  private static let displays = ["DISPLAY", "WAYLAND_DISPLAY"]
  /// Timeout for calls to the service manager, in seconds.
  private static let timeout = "10"

  private let environment: [String: String]
  private let isUnit: Bool

  /// `environment` is this process's environment. If systemd started this process as a unit, `$SYSTEMD_EXEC_PID`
  /// matches `process` (systemd.exec(5)). In a child of such a process, the variable does not match.
  package init(environment: [String: String], process: Int32 = getpid()) {
    self.environment = environment.filter { !$0.value.isEmpty }
    isUnit = environment["SYSTEMD_EXEC_PID"] == "\(process)"
  }

  package func hasDisplay() async -> Bool {
    if BrowserCommand.isNamed(environment["BROWSER"]) { return true }
    if Self.displays.contains(where: { environment[$0] != nil }) { return true }
    guard isUnit else { return false }
    let line = ["timeout", Self.timeout, "systemctl", "--user", "show-environment"]
    let (status, output) = await ChildProgram.output(of: line, environment: environment)
    return status == 0
      && output.split(separator: "\n").contains { line in
        Self.displays.contains { line.hasPrefix($0 + "=") && line.utf8.count > $0.utf8.count + 1 }
      }
  }

  package func open(_ url: String) async -> String? {
    let lines = commands(for: url)
    guard !lines.isEmpty else { return "The address is neither an https URL nor an http URL on this machine." }
    var failures: [String] = []
    for line in lines {
      guard let failure = await run(line) else { return nil }
      failures.append(failure)
    }
    return failures.first
  }

  private func run(_ line: [String]) async -> String? {
    guard isUnit else {
      let isStarted = ChildProgram.start(line, environment: environment.filter { !Self.isOwn($0.key) })
      return isStarted ? nil : "Cannot run \(line[0]) (\(String(cString: strerror(errno))))."
    }
    let (status, _) = await ChildProgram.output(of: line, environment: environment)
    return status == 0 ? nil : "systemd-run exited with status \(status)."
  }

  /// Returns the command lines to try, in order. systemd logs the unit's description, so the description does not
  /// contain the private URL. `$` is doubled because systemd expands variables (systemd.service(5), "Command lines").
  func commands(for url: String) -> [[String]] {
    let lines = BrowserCommand.lines(environment["BROWSER"], for: url)
    guard isUnit else { return lines }
    let display = Self.displays.compactMap { name in environment[name].map { "--setenv=\(name)=\($0)" } }
    return lines.map { line in
      ["timeout", Self.timeout, "systemd-run", "--user", "--quiet", "--collect"]
        + ["--description=Sign-in page opened by Hearth"] + display
        + ["--", line[0]] + line.dropFirst().map { $0.replacing("$", with: "$$") }
    }
  }

  /// Returns whether the variable is meant only for the daemon, so that the browser must not inherit it.
  private static func isOwn(_ variable: String) -> Bool {
    ["LISTEN_", "WATCHDOG_"].contains { variable.hasPrefix($0) }
      || ["NOTIFY_SOCKET", "CREDENTIALS_DIRECTORY", "INVOCATION_ID", "JOURNAL_STREAM"].contains(variable)
  }
}
