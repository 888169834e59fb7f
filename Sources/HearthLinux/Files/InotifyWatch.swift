import HearthCore
package import Logging

/// Notices changes to files through inotify(7), for all accounts through one instance of it, of which a user may have
/// 128.
///
/// Locking or unlocking an encrypted folder causes no event: whoever cannot read a file must try again by a timer.
package struct InotifyWatch: FileWatch {
  private let inotify: Result<Inotify, FileError>
  private let logger: Logger

  package init(logger: Logger) {
    self.logger = logger
    inotify = Result { () throws(FileError) in try Inotify() }
  }

  package func hints(for paths: [String]) -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    switch inotify {
    case .success(let inotify):
      let watcher = inotify.watch(paths) { continuation.yield() }
      continuation.onTermination = { _ in inotify.end(watcher) }
    case .failure(let error):
      logger.warning("Changes that other programs make to files are noticed late, for inotify fails: \(error)")
      continuation.yield()
      continuation.finish()
    }
    return stream
  }
}
