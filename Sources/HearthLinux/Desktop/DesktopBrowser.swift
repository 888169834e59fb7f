import Glibc
import HearthControl
package import HearthCore

/// Opens pages with the first program of `$BROWSER` that can be run, or with xdg-open.
///
/// If systemd runs the daemon, the browser is started as its own unit: it needs what the daemon's unit forbids, and the
/// user manager knows the display of a session that began after the daemon.
package struct DesktopBrowser: PageOpener {
  private static let displays = ["DISPLAY", "WAYLAND_DISPLAY"]
  /// The timeout of calls to the service manager, in seconds.
  private static let timeout = "10"

  private let environment: [String: String]
  private let isUnit: Bool

  /// `environment` is this process's own. systemd names the main process of a unit there (systemd.exec(5),
  /// `$SYSTEMD_EXEC_PID`). In a child of that process, the variable names another process.
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

  package func open(_ url: String) async throws(PageNotOpened) {
    let lines = commands(for: url)
    guard !lines.isEmpty else { throw PageNotOpened(message: "The address is not a page for a browser.") }
    var failures: [PageNotOpened] = []
    for line in lines {
      do throws(PageNotOpened) {
        return try await run(line)
      } catch {
        failures.append(error)
      }
    }
    if let first = failures.first { throw first }
  }

  private func run(_ line: [String]) async throws(PageNotOpened) {
    guard isUnit else {
      guard ChildProgram.start(line, environment: environment.filter { !Self.isOwn($0.key) }) else {
        throw PageNotOpened(message: "\(line[0]) cannot be run (\(String(cString: strerror(errno)))).")
      }
      return
    }
    let (status, _) = await ChildProgram.output(of: line, environment: environment)
    guard status == 0 else { throw PageNotOpened(message: "systemd-run ended with \(status).") }
  }

  /// Returns the command lines to try, in order. The description is what the journal says about the unit, without the
  /// address, which is private. A dollar sign would begin a variable there (systemd.service(5), "Command lines").
  func commands(for url: String) -> [[String]] {
    let lines = BrowserCommand.lines(environment["BROWSER"], for: url)
    guard isUnit else { return lines }
    let display = Self.displays.compactMap { name in environment[name].map { "--setenv=\(name)=\($0)" } }
    return lines.map { line in
      ["timeout", Self.timeout, "systemd-run", "--user", "--quiet", "--collect"]
        + ["--description=A page to sign in on, opened by Hearth"] + display
        + ["--", line[0]] + line.dropFirst().map { $0.replacing("$", with: "$$") }
    }
  }

  /// Whether systemd set the variable only for the daemon.
  private static func isOwn(_ variable: String) -> Bool {
    ["LISTEN_", "WATCHDOG_"].contains { variable.hasPrefix($0) }
      || ["NOTIFY_SOCKET", "CREDENTIALS_DIRECTORY", "INVOCATION_ID", "JOURNAL_STREAM"].contains(variable)
  }
}
