import Dispatch
import Glibc
import HearthCore
package import Logging

/// Notices changes to files through inotify(7). It watches the folders of the files and all folders above them, so that
/// a folder that is moved, made readable or created again is noticed too. Mounts, which may appear over a path, are
/// noticed through the kernel's table of mounts (proc(5), /proc/PID/mountinfo).
///
/// Locking or unlocking an encrypted folder causes no event: whoever cannot read a file must try again by a timer.
package struct InotifyWatch: FileWatch {
  private let logger: Logger

  package init(logger: Logger) {
    self.logger = logger
  }

  package func hints(for paths: [String]) -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let inotify = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    var stop: (reading: Int32, writing: Int32) = (-1, -1)
    var ends: [Int32] = [-1, -1]
    if inotify >= 0, pipe(&ends) == 0 {
      ends.forEach { _ = fcntl($0, F_SETFD, FD_CLOEXEC) }
      stop = (ends[0], ends[1])
    }
    guard stop.reading >= 0 else {
      if inotify >= 0 { close(inotify) }
      logger.warning(
        "Changes that other programs make to files are noticed late, for inotify fails: \(FileError(errno: errno))")
      continuation.yield()
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [stop] _ in close(stop.writing) }
    // It needs a thread of its own, because adding a watch hangs where a mount hangs.
    DispatchQueue(label: "hearth.inotify").async { [stop] in
      let mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
      var loop = InotifyLoop(inotify: inotify, mounts: mounts, stop: stop.reading, paths: paths) {
        continuation.yield()
      }
      loop.run()
    }
    return stream
  }
}

/// Waits for events until the other end of `stop` is closed; then it closes its descriptors.
private struct InotifyLoop {
  let inotify: Int32
  /// The descriptor of the table of mounts; -1 where there is none.
  let mounts: Int32
  let stop: Int32
  let paths: [String]
  let hint: () -> Void
  /// The names that matter in each watched folder; true: the name is a folder above a watched file.
  var watched: [Int32: [String: Bool]] = [:]

  /// Events of a name in a watched folder.
  private static let ofName = UInt32(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB)
  private static let itself = UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_Q_OVERFLOW)
  private static let inAFile = UInt32(IN_MODIFY | IN_CLOSE_WRITE)

  mutating func run() {
    arm()
    hint()
    while let areMountsChanged = waitForEvents() {
      let (isChanged, mustRearm) = readEvents()
      if mustRearm || areMountsChanged { arm() }
      if isChanged || areMountsChanged { hint() }
    }
    close(inotify)
    close(stop)
    if mounts >= 0 { close(mounts) }
  }

  /// Returns whether mounts have changed, or nil when the watch is over.
  private func waitForEvents() -> Bool? {
    var polled = [
      pollfd(fd: inotify, events: Int16(POLLIN), revents: 0), pollfd(fd: stop, events: 0, revents: 0),
      pollfd(fd: mounts, events: Int16(POLLPRI), revents: 0),
    ]
    while poll(&polled, 3, -1) < 0 {
      guard errno == EINTR else { return nil }
    }
    return polled[1].revents == 0 ? polled[2].revents != 0 : nil
  }

  /// Removes all watches and adds them again, on the folders that lead to the files now. A folder that cannot be watched
  /// is covered by the watch on the folder above it.
  private mutating func arm() {
    watched.keys.forEach { inotify_rm_watch(inotify, $0) }
    watched = [:]
    for path in paths {
      watchFolders(of: path)
      if let target = linkTarget(of: path) { watchFolders(of: target) }
    }
  }

  private mutating func watchFolders(of path: String) {
    let parts = path.split(separator: "/").map(String.init)
    for (index, name) in parts.enumerated() {
      let folder = "/" + parts[..<index].joined(separator: "/")
      let isFolder = index < parts.count - 1
      let mask = Self.ofName | Self.itself | UInt32(IN_ONLYDIR | IN_MASK_ADD) | (isFolder ? 0 : Self.inAFile)
      let watch = inotify_add_watch(inotify, folder, mask)
      guard watch >= 0 else { continue }
      watched[watch, default: [:]][name, default: false] = isFolder || watched[watch]?[name] == true
    }
  }

  private func linkTarget(of path: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = buffer.withUnsafeMutableBytes { readlink(path, $0.baseAddress!, $0.count) }
    guard count > 0 else { return nil }
    let target = String(decoding: buffer[..<count], as: UTF8.self)
    return target.hasPrefix("/") ? target : path[...(path.lastIndex(of: "/") ?? path.startIndex)] + target
  }

  private func readEvents() -> (isChanged: Bool, mustRearm: Bool) {
    var result = (isChanged: false, mustRearm: false)
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = buffer.withUnsafeMutableBytes { read(inotify, $0.baseAddress!, $0.count) }
      guard count > 0 else { return result }
      buffer.withUnsafeBytes { bytes in
        var offset = 0
        while offset < count {
          let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
          let nameStart = offset + MemoryLayout<inotify_event>.size
          let name = String(decoding: bytes[nameStart..<nameStart + Int(event.len)].prefix { $0 != 0 }, as: UTF8.self)
          let what = meaning(of: event, name)
          result = (result.isChanged || what.isChanged, result.mustRearm || what.mustRearm)
          offset = nameStart + Int(event.len)
        }
      }
    }
  }

  private func meaning(of event: inotify_event, _ name: String) -> (isChanged: Bool, mustRearm: Bool) {
    if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { return (true, true) }
    // The queue may still hold events of watches that were removed.
    guard event.mask & UInt32(IN_IGNORED) == 0, let names = watched[event.wd] else { return (false, false) }
    guard !name.isEmpty else { return (true, true) }
    guard let isFolder = names[name] else { return (false, false) }
    // The file may have become a link, or another file.
    return (true, isFolder || event.mask & UInt32(IN_CREATE | IN_MOVED_TO) != 0)
  }
}
