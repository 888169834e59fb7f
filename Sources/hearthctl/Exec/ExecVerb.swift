import ArgumentParser
import Glibc
import HearthClient
import HearthControl
import HearthCore

struct ExecVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "exec", abstract: "Run a program with the account's token in a file or a variable.",
    discussion: """
      The variable HEARTH_TOKEN_FILE contains the path of a token file that only you can read. Hearth replaces the \
      file after each refresh, and removes it while the account is locked or needs a sign-in, and when the program ends.

      With --env, the variable contains the token itself. It is not updated after a refresh, so use it only for \
      programs that finish before the token expires.

      The token is never in the program's arguments. hearthctl forwards signals to the program. It exits with the \
      program's status, with 128 + N if signal N killed the program, with 126 if the program cannot be run, or with \
      127 if the program does not exist. If there is no token, hearthctl does not run the program.

      For example:

        hearthctl exec -- ./nightly-backup
        hearthctl exec work --file-env CI_TOKEN_FILE -- make release
        hearthctl exec work --env GITHUB_TOKEN -- gh pr list
      """)

  static let usualVariable = "HEARTH_TOKEN_FILE"

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var choice: DefaultedAccount

  @Option(
    help: ArgumentHelp(
      "Environment variable for the token. Hearth does not update it after a refresh.", valueName: "name"))
  var env: String?

  @Option(
    help: ArgumentHelp(
      "Environment variable for the path of the token file (default \(usualVariable)).", valueName: "name"))
  var fileEnv: String?

  @Argument(parsing: .postTerminator, help: "Program and its arguments, after --.")
  var program: [String] = []

  func validate() throws {
    guard !program.isEmpty else {
      throw ValidationError("Name the program after --, as in: hearthctl exec work -- make release")
    }
    guard env == nil || fileEnv == nil else {
      throw ValidationError("--env cannot be combined with --file-env. Pass the token in a variable or in a file.")
    }
    if let name = env ?? fileEnv, name.isEmpty || name.contains("=") {
      throw ValidationError("\"\(name)\" is not a valid variable name.")
    }
  }

  func run() throws {
    let token = try token()
    let secret = token.token.secret
    if let env { Glibc.exit(try RunningProgram(program, variable: env, secret.reveal()).waitForEnd()) }
    let file = try TokenFile()
    guard file.write(secret) else { throw file.failure }
    let running: RunningProgram
    do {
      running = try RunningProgram(program, variable: fileEnv ?? Self.usualVariable, file.path)
    } catch {
      file.remove()
      throw error
    }
    // Refresh the file in a separate process, which does not receive the signals that this process forwards. If one of
    // the two processes is killed, the other removes the file. If both are killed, the next `exec` removes it.
    let refresher = try file.refresh(for: token.account, at: daemonOptions.socketPath, while: running.process)
    let status = running.waitForEnd(keeping: [file.lock])
    waitForEnd(of: refresher)
    file.remove()
    Glibc.exit(status)
  }

  private func token() throws -> Bearer {
    var daemon = try daemonOptions.connect()
    return try daemon.call(GetToken(try choice.name(for: nil, &daemon))).value
  }
}
