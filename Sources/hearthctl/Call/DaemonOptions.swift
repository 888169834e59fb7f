import ArgumentParser
import Glibc
import HearthControl

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
      do throws(SocketPath.Flaw) {
        return try SocketPath.resolve(option: socket, environment: environment)
      } catch {
        switch error {
        case .unknown: throw CommandFailure(.noDaemon, error.description)
        case .tooLong: throw CommandFailure(.usage, error.description)
        }
      }
    }
  }

  func connect() throws -> Daemon {
    try Daemon(path: socketPath)
  }
}

/// A variable of the environment; nil where it is unset or empty.
func variable(_ name: String) -> String? {
  guard let value = getenv(name), value.pointee != 0 else { return nil }
  return String(cString: value)
}
