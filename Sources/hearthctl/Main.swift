import ArgumentParser
import CLinux
import Glibc
import HearthClient
import HearthControl
import HearthCore

@main
enum Main {
  static func main() {
    let line = CommandLine.arguments.dropFirst()
    // Forbid core dumps before the process reads any passphrase or token. `exec` leaves the limits unchanged, because
    // the program would inherit them.
    guard hearth_forbid_dumps(line.first == "exec" ? 0 : 1) == 0 else {
      Output.error("Cannot disable core dumps for this process: \(reason()).")
      exit(ExitStatus.failed.rawValue)
    }
    do {
      var verb = try PlainLine.verb(line) ?? Hearthctl.verb(in: line)
      try verb.run()
      // Commands that watch for changes return here after Ctrl-C.
      if Interruption.hasCome { exit(ExitStatus.interrupted.rawValue) }
    } catch let failure as CommandFailure {
      if let message = failure.message { Output.error(message) }
      exit(failure.status.rawValue)
    } catch let ControlClient.Failure.refused(error) {
      end(error, line)
    } catch let failure as ControlClient.Failure {
      Output.error(failure.description)
      exit(ExitStatus(failure).rawValue)
    } catch let error as RPCError {
      // An argument or HEARTH_ACCOUNT could not be parsed.
      end(error, line, .usage)
    } catch {
      // ArgumentParser also throws for `--help` and `--version`. Its other errors are usage errors (64).
      let code = Hearthctl.exitCode(for: error)
      guard code != .success else {
        print(HelpText.fitted(Hearthctl.fullMessage(for: error)))
        exit(ExitStatus.done.rawValue)
      }
      let message = Hearthctl.message(for: error)
      Output.error(message.last.map { ".?!".contains($0) } == true ? message : message + ".")
      Output.note("See '\(Hearthctl.command(in: line)) --help' for more information.")
      exit(code.rawValue)
    }
  }

  private static func end(_ error: RPCError, _ line: ArraySlice<String>, _ status: ExitStatus? = nil) -> Never {
    let hint = error.kind == .unknownAccount ? accountHint(error.account ?? "", line) : ""
    Output.error(error.message + hint)
    exit((status ?? ExitStatus(error)).rawValue)
  }

  /// Returns a hint for an error about an unknown name: a similar name, if any, and the names of the existing accounts.
  private static func accountHint(_ name: String, _ line: ArraySlice<String>) -> String {
    let accounts = Completions.accountNames(Array(line))
    guard !accounts.isEmpty else { return "" }
    return accounts.suggestion(for: name) + " Configured accounts: \(accounts.listed)."
  }
}
