import ArgumentParser
import CLinux
import Glibc
import HearthClient
import HearthControl

@main
enum Main {
  static func main() {
    // Before anything is read: it holds passphrases and tokens.
    guard hearth_forbid_dumps() == 0 else {
      Output.error("The process cannot be kept out of core dumps: \(reason()).")
      exit(ExitStatus.failed.rawValue)
    }
    let line = CommandLine.arguments.dropFirst()
    do {
      if let call = PlainLine.call(line) {
        try call.run()
      } else {
        var verb = try Verbs.parse(line)
        try verb.run()
      }
      // What is watched ends so.
      if Interruption.hasCome { exit(ExitStatus.interrupted.rawValue) }
    } catch let failure as CommandFailure {
      if let message = failure.message { Output.error(message) }
      exit(failure.status.rawValue)
    } catch let failure as ControlClient.Failure {
      Output.error(failure.description)
      exit(ExitStatus(failure).rawValue)
    } catch let error as RPCError {
      Output.error(error.message)
      exit(ExitStatus(error).rawValue)
    } catch let error as ValidationError {
      Output.error(error.message)
      Output.note("See '\(Verbs.command(in: line)) --help' for more information.")
      exit(ExitStatus.usage.rawValue)
    } catch {
      // Help, version, and wrong usage (64), which names its command.
      let code = Hearthctl.exitCode(for: error)
      guard code != .success else { Hearthctl.exit(withError: error) }
      Output.note(Hearthctl.fullMessage(for: error))
      exit(code.rawValue)
    }
  }
}
