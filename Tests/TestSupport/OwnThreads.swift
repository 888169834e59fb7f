import Glibc
import Testing

/// Runs each piece of a test on a thread of its own: these tests block on processes and sockets, and the threads that
/// all other tests share are few.
private final class OwnThreads: TaskExecutor {
  static let shared = OwnThreads()

  private final class Piece {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let piece = Unmanaged.passRetained(Piece { job.runSynchronously(on: self.asUnownedTaskExecutor()) })
    var thread = pthread_t()
    let result = pthread_create(
      &thread, nil,
      { argument in
        argument.map { Unmanaged<Piece>.fromOpaque($0).takeRetainedValue().run() }
        return nil
      }, piece.toOpaque())
    precondition(result == 0, "there are no more threads")
    pthread_detach(thread)
  }
}

/// The tests of a suite may block.
struct MayBlock: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing body: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(OwnThreads.shared) { try await body() }
  }
}

extension Trait where Self == MayBlock {
  static var mayBlock: MayBlock { MayBlock() }
}
