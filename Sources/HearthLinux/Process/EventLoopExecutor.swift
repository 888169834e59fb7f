import NIOCore
import NIOPosix

/// Runs tasks on the event loop that serves the sockets: what a client asks for, and what an API answers, passes from the
/// socket to the actors and back without a change of threads.
///
/// Nothing that runs on it may block: files, the database and the derivation of keys have threads of their own.
package final class EventLoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  private init(_ loop: any EventLoop) {
    self.loop = loop
  }

  /// The one event loop of this process. To be called before anything else uses NIO.
  package static func only() -> EventLoopExecutor {
    NIOSingletons.groupLoopCountSuggestion = 1
    return EventLoopExecutor(MultiThreadedEventLoopGroup.singleton.next())
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
