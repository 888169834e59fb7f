import NIOCore
import NIOPosix

/// Runs tasks on the event loop that serves the sockets, so that calls and responses pass between sockets and actors
/// without switching threads.
///
/// Nothing that runs here may block. Files, the database and key derivation have their own threads.
package final class EventLoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  private init(_ loop: any EventLoop) {
    self.loop = loop
  }

  /// Returns an executor for the process's only event loop. Must be called before anything else uses NIO.
  package static func only() -> EventLoopExecutor {
    NIOSingletons.groupLoopCountSuggestion = 1
    return EventLoopExecutor(MultiThreadedEventLoopGroup.singleton.next())
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
