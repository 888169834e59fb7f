import ArgumentParser
import Glibc
import HearthClient
import HearthControl
import HearthCore

/// Which daemon to call, how long to wait for it, and how to print its answer.
protocol DaemonAccess {
  var socket: String? { get }
  var json: Bool { get }
  /// The timeout, in seconds.
  var timeout: Double? { get }
}

/// The same as a plain value.
struct DaemonChoice: DaemonAccess, Hashable {
  var socket: String?
  var json = false
  var timeout: Double?

  /// The longest timeout: a year, in seconds.
  private static let longest = 31_536_000.0

  func validate() throws {
    guard let timeout, !(0...Self.longest).contains(timeout) else { return }
    throw ValidationError("--timeout is a number of seconds, 0 to \(Int(Self.longest)).")
  }
}

extension DaemonAccess {
  var output: Output { Output(isJSON: json) }

  var socketPath: String {
    get throws {
      do throws(SocketPath.Failure) {
        return try SocketPath.resolve(option: socket, else: .ofThisProcess)
      } catch {
        switch error {
        case .unknown: throw CommandFailure(.noDaemon, error.description)
        case .tooLong: throw CommandFailure(.usage, error.description)
        }
      }
    }
  }

  /// Connects. Each call of the client ends after `--timeout`, or after `timeout` if the option is not given.
  func connect(timeout: Duration = ControlClient.timeout) throws -> ControlClient {
    let limits = try limits(or: timeout)
    return try ControlClient(path: socketPath, timeout: limits.call, connecting: limits.connecting)
  }

  /// Connects; `nil` if no daemon runs.
  func connectIfRunning() throws -> ControlClient? {
    do {
      return try connect(timeout: ControlClient.shortTimeout)
    } catch let failure as CommandFailure where failure.status == .noDaemon {
      return nil
    } catch ControlClient.Failure.noDaemon {
      return nil
    }
  }

  /// How long a call and connecting may take. `timeout` is for a call without `--timeout`.
  func limits(or timeout: Duration) throws -> (call: Duration, connecting: Duration) {
    guard let limit = timeLimit else { return (timeout, ControlClient.connectingTimeout) }
    guard limit > .zero else { throw ValidationError("--timeout must be more than 0 seconds.") }
    return (limit, limit)
  }

  /// The limit from `--timeout`.
  var timeLimit: Duration? { timeout.map { .seconds($0) } }
}

extension ControlClient {
  /// For verbs that ask for data that the daemon already has: it answers at once, or something is wrong with it.
  static let shortTimeout: Duration = .seconds(15)

  /// The counts; `nil` if the daemon refuses the call because the outbox cannot be read.
  mutating func outboxStats(of account: AccountName) throws(Failure) -> OutboxStats? {
    try outboxStats(of: [account])[0]
  }

  /// The counts of several accounts, in order.
  mutating func outboxStats(of accounts: [AccountName]) throws(Failure) -> [OutboxStats?] {
    try call(each: accounts.map { GetOutboxStats($0) }).map { try? $0.get() }
  }
}

extension CommandFailure {
  /// The daemon stopped while this command was following it.
  static let daemonStopped = CommandFailure(.noDaemon, "The daemon has stopped.")
}

extension EventFollower {
  /// The next step; `nil` if `limit` passes first.
  mutating func step(from daemon: inout ControlClient, within limit: Duration? = nil) throws -> Step? {
    do {
      return try next(from: &daemon, within: limit)
    } catch .disconnected {
      throw CommandFailure.daemonStopped
    }
  }

  /// The next step, with all that arrive together with it; none if `limit` passes first. Returns after `most`, however
  /// many still arrive, so that a busy outbox does not delay the screen.
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

/// A variable of the environment; `nil` if it is unset or empty.
func variable(_ name: String) -> String? {
  guard let value = getenv(name), value.pointee != 0 else { return nil }
  return String(cString: value)
}
