import Glibc

/// Runs each piece of a test on its own thread, for tests that block on processes and sockets or compute for a long
/// time. All other tests share only a few threads.
package final class OwnThreads: TaskExecutor {
  package static let shared = OwnThreads()

  private final class Piece {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let piece = Unmanaged.passRetained(Piece { job.runSynchronously(on: self.asUnownedTaskExecutor()) })
    var thread = pthread_t()
    let result = pthread_create(
      &thread, nil,
      { argument in
        pthread_detach(pthread_self())
        argument.map { Unmanaged<Piece>.fromOpaque($0).takeRetainedValue().run() }
        return nil
      }, piece.toOpaque())
    precondition(result == 0, "there are no more threads")
  }
}
