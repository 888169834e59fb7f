import HearthCore
import HearthThreads
import NIOCore
import NIOPosix
import Synchronization

/// The failures of a port whose operations block.
protocol BlockingCallFailure: Error {
  /// The operation did not finish within this time.
  static func unanswered(_ limit: Duration) -> Self
  /// Any other error. The value is a message.
  static func failed(_ message: String) -> Self
}

/// Runs blocking calls one at a time on a dedicated thread. No caller waits longer than `limit`.
///
/// A call that hangs blocks the thread. A call that times out in the queue behind it is never made.
struct BlockingCallQueue<Failure: BlockingCallFailure>: Sendable {
  /// Resumes the caller exactly once, with the result or with a timeout.
  private final class Race<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Result<Value, Failure>, Never>?>

    init(_ continuation: CheckedContinuation<Result<Value, Failure>, Never>) {
      self.continuation = Mutex(continuation)
    }

    var isOver: Bool { continuation.withLock { $0 == nil } }

    func finish(_ result: Result<Value, Failure>) {
      let waiting = continuation.withLock { continuation in
        defer { continuation = nil }
        return continuation
      }
      waiting?.resume(returning: result)
    }
  }

  let limit: Duration
  private let thread = WorkerThread()

  /// `call` throws only `Failure`.
  @discardableResult
  func run<Value: Sendable>(_ call: @escaping @Sendable () throws -> Value) async throws(Failure) -> Value {
    let result = await withCheckedContinuation { continuation in
      let race = Race<Value>(continuation)
      let deadline = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(
        in: .milliseconds(limit.wholeMilliseconds)
      ) { [limit] in
        race.finish(.failure(.unanswered(limit)))
      }
      thread.enqueue {
        defer { deadline.cancel() }
        guard !race.isOver else { return }
        race.finish(Result(catching: call).mapError { $0 as? Failure ?? .failed("\($0)") })
      }
    }
    return try result.get()
  }
}
