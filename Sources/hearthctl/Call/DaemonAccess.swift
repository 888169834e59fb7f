import ArgumentParser
import Glibc
import HearthClient
import HearthControl
import HearthCore

/// Which daemon is called, how long that may take, and how its answer is printed.
protocol DaemonAccess {
  var socket: String? { get }
  var json: Bool { get }
  /// In seconds.
  var timeout: Double? { get }
}

/// This is the same as a value.
struct DaemonChoice: DaemonAccess, Hashable {
  var socket: String?
  var json = false
  var timeout: Double?

  /// A year, in seconds.
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

  /// Each call of the client ends after `--timeout`, or after `timeout` where that is not given.
  func connect(timeout: Duration = ControlClient.timeout) throws -> ControlClient {
    let limits = try limits(or: timeout)
    return try ControlClient(path: socketPath, timeout: limits.call, connecting: limits.connecting)
  }

  /// It is nil if no daemon runs.
  func connectIfRunning() throws -> ControlClient? {
    do {
      return try connect(timeout: ControlClient.shortTimeout)
    } catch let failure as CommandFailure where failure.status == .noDaemon {
      return nil
    } catch ControlClient.Failure.noDaemon {
      return nil
    }
  }

  /// How long a call and connecting may take; `timeout`: the former where `--timeout` does not say.
  func limits(or timeout: Duration) throws -> (call: Duration, connecting: Duration) {
    guard let limit = timeLimit else { return (timeout, ControlClient.connectingTimeout) }
    guard limit > .zero else { throw ValidationError("--timeout must be more than 0 seconds.") }
    return (limit, limit)
  }

  /// What `--timeout` says.
  var timeLimit: Duration? { timeout.map { .seconds($0) } }
}

extension ControlClient {
  /// For verbs that ask for what the daemon knows already: it answers at once, or something is wrong with it.
  static let shortTimeout: Duration = .seconds(15)

  /// It is nil if the daemon refuses the call because the outbox cannot be read.
  mutating func outboxStats(of account: AccountName) throws(Failure) -> OutboxStats? {
    try outboxStats(of: [account])[0]
  }

  /// Answers the same for several accounts, in their order.
  mutating func outboxStats(of accounts: [AccountName]) throws(Failure) -> [OutboxStats?] {
    try call(each: accounts.map { GetOutboxStats($0) }).map { try? $0.get() }
  }
}

extension CommandFailure {
  /// What follows the daemon has come to its end.
  static let daemonStopped = CommandFailure(.noDaemon, "The daemon has stopped.")
}

extension EventFollower {
  /// What comes next; nil when `limit` is over first.
  mutating func step(from daemon: inout ControlClient, within limit: Duration? = nil) throws -> Step? {
    do {
      return try next(from: &daemon, within: limit)
    } catch .disconnected {
      throw CommandFailure.daemonStopped
    }
  }

  /// What comes next, and all that comes together with it; none when `limit` is over first. It is given after `most`,
  /// however much still comes: a busy outbox must not keep the person from seeing it.
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

/// A variable of the environment; nil if it is unset or empty.
func variable(_ name: String) -> String? {
  guard let value = getenv(name), value.pointee != 0 else { return nil }
  return String(cString: value)
}
