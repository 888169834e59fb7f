import Logging
import NIOCore
import Synchronization

/// A warning that other users or clients can trigger as often as they like. The first one is logged immediately. If
/// more follow within a minute, a summary reports their number.
final class ThrottledWarning: Sendable {
  private struct State {
    var throttle = Throttle(interval: ThrottledWarning.interval)
    var last = ""
  }

  static let interval: Duration = .seconds(60)

  private let logger: Logger
  /// Returns the time since a fixed point on a clock that cannot be set.
  private let elapsed: @Sendable () -> Duration
  /// Returns the line to log for `count` warnings. `last` is the detail of the last one.
  private let summary: @Sendable (_ count: Int, _ last: String) -> String
  private let state = Mutex(State())

  init(
    _ logger: Logger, elapsed: @escaping @Sendable () -> Duration,
    summary: @escaping @Sendable (_ count: Int, _ last: String) -> String
  ) {
    self.logger = logger
    self.elapsed = elapsed
    self.summary = summary
  }

  /// `detail` describes this warning if it is the last one in a summary.
  func record(_ message: String, detail: String, on loop: any EventLoop) {
    let decision = state.withLock { state in
      state.last = detail
      return state.throttle.admit(at: elapsed())
    }
    switch decision {
    case .pass: logger.warning("\(message)")
    case .count: break
    case .countUntil(let end):
      loop.scheduleTask(in: TimeAmount(end - elapsed())) { [self] in
        let (count, last) = state.withLock { ($0.throttle.release(at: elapsed()), $0.last) }
        logger.warning("\(summary(count, last))")
      }
    }
  }
}
