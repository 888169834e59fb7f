import ArgumentParser
import Glibc
import HearthControl
import HearthCore

/// What every verb takes.
struct DaemonOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The daemon's socket.", valueName: "path"))
  var socket: String?

  @Flag(help: "Print JSON.")
  var json = false

  var output: Output { Output(isJSON: json) }

  var socketPath: String {
    get throws {
      let environment = ["HEARTH_SOCKET", "XDG_RUNTIME_DIR"].reduce(into: [:]) { $0[$1] = variable($1) }
      do throws(SocketPath.Failure) {
        return try SocketPath.resolve(option: socket, environment: environment)
      } catch {
        switch error {
        case .unknown: throw CommandFailure(.noDaemon, error.description)
        case .tooLong: throw CommandFailure(.usage, error.description)
        }
      }
    }
  }

  func connect() throws -> ControlClient {
    try ControlClient(path: socketPath)
  }
}

/// The account that a verb is asked about, or all of them.
struct AccountChoice: ParsableArguments {
  @Argument(help: "One account; all of them without.")
  var account: String?

  /// Fails as the daemon would where no account can have this name.
  var name: AccountName? { get throws { try AccountName.asked(account) } }
}

extension ControlClient {
  /// The next notification; nil when `limit` is over first.
  mutating func awaitNotification(within limit: Duration?) throws -> Notification? {
    do {
      if let notification = try nextNotification(within: limit) { return notification }
    } catch .timedOut {
      return nil
    }
    throw CommandFailure(.noDaemon, "The daemon has stopped.")
  }
}

/// A variable of the environment; nil where it is unset or empty.
func variable(_ name: String) -> String? {
  guard let value = getenv(name), value.pointee != 0 else { return nil }
  return String(cString: value)
}
