import ArgumentParser
import Glibc
import HearthClient
import HearthControl
import HearthCore

/// The options that every verb has.
struct DaemonOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Path of the daemon's socket.", valueName: "path"), completion: .file())
  var socket: String?

  @Flag(help: "Print JSON.")
  var json = false

  @Option(help: ArgumentHelp("Maximum time to wait for the daemon's answer, in seconds.", valueName: "seconds"))
  var timeout: Double?

  /// The maximum timeout in seconds (one year).
  private static let longest = 31_536_000.0

  func validate() throws {
    guard let timeout, !(0...Self.longest).contains(timeout) else { return }
    throw ValidationError("--timeout must be a number of seconds from 0 to \(Int(Self.longest)).")
  }
}

extension DaemonOptions {
  /// Returns the options of a command that is not parsed by ArgumentParser. In an initializer, Swift 6.3 would take the
  /// assignment to `json` for the definition of another default.
  static func plain(socket: String?, json: Bool = false, timeout: Double?) -> DaemonOptions {
    var options = DaemonOptions()
    (options.socket, options.json, options.timeout) = (socket, json, timeout)
    return options
  }

  var output: Output { Output(isJSON: json) }

  var socketPath: String {
    get throws {
      do {
        return try SocketPath.resolve(option: socket, else: .ofThisProcess)
      } catch {
        switch error {
        case .unknown: throw CommandFailure(.noDaemon, error.description)
        case .tooLong: throw CommandFailure(.usage, error.description)
        }
      }
    }
  }

  /// Connects to the daemon. The time limit for calls is `--timeout`, or `timeout` if that option is missing.
  func connect(timeout: Duration = ControlClient.timeout) throws -> ControlClient {
    let limits = try limits(or: timeout)
    return try ControlClient(path: socketPath, timeout: limits.call, connecting: limits.connecting)
  }

  /// Connects to the daemon, or returns `nil` if no daemon is running.
  func connectIfRunning() throws -> ControlClient? {
    do {
      return try connect(timeout: ControlClient.shortTimeout)
    } catch let failure as CommandFailure where failure.status == .noDaemon {
      return nil
    } catch ControlClient.Failure.noDaemon {
      return nil
    }
  }

  /// Returns the time limits for a call and for connecting. `timeout` applies to calls without `--timeout`.
  func limits(or timeout: Duration) throws -> (call: Duration, connecting: Duration) {
    guard let limit = timeLimit else { return (timeout, ControlClient.connectingTimeout) }
    guard limit > .zero else { throw ValidationError("--timeout must be more than 0 seconds.") }
    return (limit, limit)
  }

  var timeLimit: Duration? { timeout.map { .seconds($0) } }
}

extension ControlClient {
  /// The timeout for calls that return data the daemon already has. A call that takes longer indicates a problem.
  static let shortTimeout: Duration = .seconds(15)

  /// Returns the account's outbox counts, or `nil` if the daemon refuses the call, for example because it cannot read
  /// the outbox.
  mutating func outboxStats(of account: AccountName) throws -> OutboxStats? {
    try outboxStats(of: [account])[0]
  }

  /// Returns the outbox counts of several accounts, in order.
  mutating func outboxStats(of accounts: [AccountName]) throws -> [OutboxStats?] {
    try call(each: accounts.map { GetOutboxStats($0) }).map { try? $0.get() }
  }
}

extension CommandFailure {
  /// The daemon closed the connection while this command was receiving events.
  static let daemonStopped = CommandFailure(
    .noDaemon, "The daemon closed the connection. To find out why, run \"systemctl --user status hearthd\".")
}

extension EventFollower {
  /// Returns the next step, or `nil` if none arrives within `limit`.
  mutating func step(from daemon: inout ControlClient, within limit: Duration? = nil) throws -> Step? {
    do {
      return try next(from: &daemon, within: limit)
    } catch ControlClient.Failure.disconnected {
      throw CommandFailure.daemonStopped
    }
  }

  /// Returns the next step and the steps that arrive soon after it, or an empty array if `limit` passes first. Collects
  /// steps for at most `most`, so that a busy outbox does not delay the screen.
  mutating func burst(
    from daemon: inout ControlClient, within limit: Duration? = nil, most: Duration = .milliseconds(200)
  ) throws -> [Step] {
    var steps: [Step] = []
    var next = try step(from: &daemon, within: limit)
    let end = ContinuousClock.now + most
    while let step = next {
      steps.append(step)
      guard ContinuousClock.now < end else { break }
      next = try self.step(from: &daemon, within: .milliseconds(50))
    }
    return steps
  }
}

/// Returns an environment variable, or `nil` if it is unset or empty.
func variable(_ name: String) -> String? {
  guard let value = getenv(name), value.pointee != 0 else { return nil }
  return String(cString: value)
}
