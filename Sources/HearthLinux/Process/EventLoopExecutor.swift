import NIOCore
import NIOPosix

/// Runs tasks on the event loop that serves the sockets: clients' calls and APIs' answers pass from the socket to the
/// actors and back without switching threads.
///
/// Nothing that runs on it may block: files, the database and key derivation have their own threads.
package final class EventLoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  private init(_ loop: any EventLoop) {
    self.loop = loop
  }

  /// The only event loop of this process. Must be called before anything else uses NIO.
  package static func only() -> EventLoopExecutor {
    NIOSingletons.groupLoopCountSuggestion = 1
    return EventLoopExecutor(MultiThreadedEventLoopGroup.singleton.next())
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
