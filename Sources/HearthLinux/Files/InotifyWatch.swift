import Glibc
import HearthCore
package import Logging

/// Watches files with inotify(7). All accounts share one inotify instance, because each user can have only 128
/// instances by default.
///
/// Locking or unlocking an encrypted folder does not cause an event, so callers must poll a file that they cannot read.
package struct InotifyWatch: FileWatch {
  private let inotify: Inotify
  private let interval: Duration
  private var noticesWrites = true

  package init(logger: Logger) { self.init(logger: logger, calls: Inotify.Calls()) }

  /// `interval` is the time between polls of unwatched files.
  init(logger: Logger, calls: Inotify.Calls, interval: Duration = .seconds(10)) {
    self.interval = interval
    inotify = Inotify(calls: calls, interval: interval) { failure in
      if let failure {
        logger.warning("\(Self.sentence(failure, interval))")
      } else {
        logger.notice("Hearth can watch its files again.")
      }
    }
  }

  /// A copy of this watch that ignores writes. If writes counted, each write to any file in a watched folder would wake
  /// a thread, and each commit of the outbox causes many writes.
  package var ofPlaces: InotifyWatch {
    var copy = self
    copy.noticesWrites = false
    return copy
  }

  package func hints(for paths: [String]) -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let watcher = inotify.watch(paths, noticesWrites: noticesWrites) { continuation.yield() }
    continuation.onTermination = { [inotify] _ in inotify.end(watcher) }
    return stream
  }

  /// A sentence that explains why Hearth notices changes late and what to do, or `nil` if all files are watched.
  package var trouble: String? { inotify.shortage.map { Self.sentence($0, interval) } }

  private static func sentence(_ failure: SystemCallFailure, _ interval: Duration) -> String {
    let advice: String? =
      switch failure.code {
      case ENOSPC: advice("watches", "fs.inotify.max_user_watches")
      case EMFILE: advice("instances", "fs.inotify.max_user_instances")
      default: nil
      }
    return
      "Hearth cannot watch its files for changes and checks them every \(interval.components.seconds) s instead "
      + "(\(failure))\(advice ?? ".")"
  }

  private static func advice(_ what: String, _ setting: String) -> String {
    ", because this user has reached the limit for inotify \(what). Raise \(setting) with \"sudo sysctl\", or quit a "
      + "program that uses many, such as an editor."
  }
}
