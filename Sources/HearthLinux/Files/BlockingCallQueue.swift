import HearthCore
import HearthThreads
import NIOCore
import NIOPosix
import Synchronization

/// Runs blocking calls one at a time on a dedicated thread. No caller waits longer than `limit`.
///
/// A call that hangs blocks the thread. A call that times out in the queue behind it is never made.
struct BlockingCallQueue: Sendable {
  /// Resumes the caller exactly once, with the result or with a timeout.
  private final class Race<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Result<Value, FileError>, Never>?>

    init(_ continuation: CheckedContinuation<Result<Value, FileError>, Never>) {
      self.continuation = Mutex(continuation)
    }

    var isOver: Bool { continuation.withLock { $0 == nil } }

    func finish(_ result: Result<Value, FileError>) {
      let waiting = continuation.withLock { continuation in
        defer { continuation = nil }
        return continuation
      }
      waiting?.resume(returning: result)
    }
  }

  let limit: Duration
  private let thread = WorkerThread()

  @discardableResult
  func run<Value: Sendable>(
    _ call: @escaping @Sendable () throws(FileError) -> Value
  ) async throws(FileError) -> Value {
    let result = await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, FileError>, Never>) in
      let race = Race(continuation)
      let deadline = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(
        in: .milliseconds(limit.wholeMilliseconds)
      ) { [limit] in
        race.finish(.failure(.unanswered(limit)))
      }
      thread.enqueue {
        defer { deadline.cancel() }
        guard !race.isOver else { return }
        do throws(FileError) {
          race.finish(.success(try call()))
        } catch {
          race.finish(.failure(error))
        }
      }
    }
    return try result.get()
  }
}
