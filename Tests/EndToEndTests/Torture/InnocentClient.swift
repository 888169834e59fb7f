import Glibc
import HearthClient
import HearthControl
import Synchronization
import TestSupport

/// A client that asks for a token again and again, and notes how long each answer took.
final class InnocentClient: Sendable {
  private struct State {
    var latencies: [Duration] = []
    var failures: [String] = []
    var isStopped = false
  }

  private let path: String
  private let state = Mutex(State())

  init(path: String) {
    self.path = path
  }

  func stop() { state.withLock { $0.isStopped = true } }

  /// Asks until it is stopped.
  func run() {
    while !state.withLock(\.isStopped) {
      do {
        var client = try ControlClient(path: path)
        while !state.withLock(\.isStopped) {
          let start = ContinuousClock.now
          _ = try client.call("session.getToken", ["account": "work"])
          let latency = ContinuousClock.now - start
          state.withLock { $0.latencies.append(latency) }
          usleep(5000)
        }
      } catch {
        state.withLock { $0.failures.append("\(error)") }
        usleep(5000)
      }
    }
  }

  struct Figures: CustomStringConvertible {
    let count: Int
    /// In milliseconds, of those that were answered.
    let median: Double
    let worstOfHundred: Double
    let worst: Double
    let failures: [String]

    var description: String {
      "\(count) calls, median \(median) ms, 99 % \(worstOfHundred) ms, worst \(worst) ms, \(failures.count) failed"
    }
  }

  /// What came of the calls since this was asked last.
  func takeFigures() -> Figures {
    state.withLock { state in
      let sorted = state.latencies.sorted().map { ($0 / .microseconds(1)).rounded() / 1000 }
      defer { (state.latencies, state.failures) = ([], []) }
      func at(_ share: Double) -> Double {
        sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
      }
      return Figures(
        count: sorted.count, median: at(0.5), worstOfHundred: at(0.99), worst: sorted.last ?? 0,
        failures: state.failures)
    }
  }
}
