import ArgumentParser
import Glibc
import HearthControl

@main
enum Main {
  static func main() {
    do {
      var command = try Hearthctl.parseAsRoot()
      try command.run()
    } catch let failure as CommandFailure {
      if let message = failure.message { Output.error(message) }
      exit(failure.status.rawValue)
    } catch let error as RPCError {
      let failure = CommandFailure(error)
      Output.error(error.message)
      exit(failure.status.rawValue)
    } catch {
      // Help, version, and wrong usage (64).
      Hearthctl.exit(withError: error)
    }
  }
}
