import Glibc

/// Removes an unfinished file if a signal ends the program before the file is complete.
enum UnfinishedFile {
  private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGPIPE]
  /// The file's path. A lock is not needed, because the path changes only while the handlers are not installed.
  nonisolated(unsafe) private static var path: UnsafeMutablePointer<CChar>?

  /// Creates the file with mkstemp(3) and starts handling signals. Returns the file's descriptor, or -1 with errno.
  static func make(_ template: inout [CChar]) -> Int32 {
    // Block signals until the name of the new file has been recorded.
    var (blocked, before) = (sigset_t(), sigset_t())
    sigemptyset(&blocked)
    for number in signals { sigaddset(&blocked, number) }
    sigprocmask(SIG_BLOCK, &blocked, &before)
    defer { sigprocmask(SIG_SETMASK, &before, nil) }
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { return descriptor }
    path = strdup(template)
    for number in signals {
      // Keep ignoring signals that the parent ignores, as under nohup(1).
      let former = signal(number) { number in
        if let path = UnfinishedFile.path { unlink(path) }
        signal(number, SIG_DFL)
        raise(number)
      }
      if let former, unsafeBitCast(former, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
        signal(number, SIG_IGN)
      }
    }
    return descriptor
  }

  /// Restores the default handling of signals. Must be called after the file has been moved into place or removed.
  static func end() {
    for number in signals { signal(number, SIG_DFL) }
    free(path)
    path = nil
  }
}
