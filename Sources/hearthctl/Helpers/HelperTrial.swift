import Glibc
import HearthClient
import HearthControl
import HearthCore

/// The result of a trial, in which Hearth requests a token in the same way as the tool.
struct HelperTrial {
  let status: ExitStatus
  let message: String

  var isOK: Bool { status == .done }

  private static let limit: Duration = .seconds(30)

  /// Runs the tool's command and checks that it prints Hearth's token for the server.
  init(_ asks: (command: String, input: String), _ target: HelperTarget, _ daemonOptions: DaemonOptions) throws {
    if let socket = daemonOptions.socket { setenv("HEARTH_SOCKET", EnvironmentPaths.absolute(socket), 1) }
    let command = target.filled(asks.command)
    // Print the command's exit status as the last line, because `output` does not return an exit status.
    let output = try Subprogram(path: "/bin/sh").output(
      ["-c", "printf '%s\\n' \"$0\" | (\(command)) 2>&1; echo \"$?\"", target.filled(asks.input)], within: Self.limit)
    var lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    let code = lines.popLast().flatMap { Int32($0) } ?? ExitStatus.failed.rawValue
    let said = lines.joined(separator: "\n")
    do {
      guard let given = try CredentialSource(account: target.account, daemonOptions).token(for: target.urls) else {
        self.init(
          .failed,
          "No account has this server in its api_origins. Run \"hearthctl account set NAME --add api_origins "
            + "\(target.filled("{origin}"))\".")
        return
      }
      let bearer = given.bearer
      if code == 0, said.contains(bearer.token.secret.reveal()) {
        let span = bearer.expiresAt.map { ", valid for \($0.since(.now).span)" } ?? ""
        self.init(.done, "Received the token \(bearer.token.fingerprint) of \(given.account)\(span).")
        return
      }
    } catch let ControlClient.Failure.refused(error) {
      self.init(ExitStatus(error), error.message)
      return
    }
    // Do not show the output of a successful command, which may contain another token.
    self.init(
      .failed,
      code == 0
        ? "The tool did not get Hearth's token. Another helper or setting probably takes precedence."
        : "\"\(command)\" exited with status \(code): \(lines.last?.shown() ?? "no output")")
  }

  private init(_ status: ExitStatus, _ message: String) { (self.status, self.message) = (status, message) }
}
