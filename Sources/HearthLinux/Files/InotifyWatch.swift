import Dispatch
import Glibc
import HearthCore
package import Logging

/// Tells of changes to files through inotify(7): it watches their folders and all folders above, so that a folder that
/// is moved, made readable or made anew is noticed too. Of mounts, which may appear over a path, it hears from the
/// kernel's table of them (proc(5), /proc/PID/mountinfo).
///
/// Nothing is said when an encrypted folder is locked or unlocked: who cannot read a file must look again by himself.
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
      logger.warning("changes of files are not noticed at once: \(FileError(errno: errno))")
      continuation.yield()
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [stop] _ in close(stop.writing) }
    // A thread of its own: a mount that hangs makes the arming of a watch hang.
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

/// Waits for events until the other end of `stop` is closed, and closes its descriptors then.
private struct InotifyLoop {
  let inotify: Int32
  /// The table of mounts; -1 where there is none.
  let mounts: Int32
  let stop: Int32
  let paths: [String]
  let hint: () -> Void
  /// The names that matter in each watched folder, and whether one is a folder on the way to a file.
  private var watched: [Int32: [String: Bool]] = [:]

  /// What can happen to a name that is a folder on the way.
  private static let onTheWay = UInt32(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB)
  private static let itself = UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_Q_OVERFLOW)
  private static let inAFile = UInt32(IN_MODIFY | IN_CLOSE_WRITE)

  init(inotify: Int32, mounts: Int32, stop: Int32, paths: [String], hint: @escaping () -> Void) {
    self.inotify = inotify
    self.mounts = mounts
    self.stop = stop
    self.paths = paths
    self.hint = hint
  }

  mutating func run() {
    arm()
    hint()
    while let areMountsChanged = waitForEvents() {
      let (isChanged, mustArm) = readEvents()
      if mustArm || areMountsChanged { arm() }
      if isChanged || areMountsChanged { hint() }
    }
    close(inotify)
    close(stop)
    if mounts >= 0 { close(mounts) }
  }

  /// Whether mounts have changed; nil when the watch is over.
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

  /// Takes all watches away and sets them anew, on whatever lies on the ways to the files now. Folders that cannot be
  /// watched are left to the watch on the one above them.
  private mutating func arm() {
    watched.keys.forEach { inotify_rm_watch(inotify, $0) }
    watched = [:]
    for path in paths {
      armWay(to: path)
      if let target = linkTarget(of: path) { armWay(to: target) }
    }
  }

  private mutating func armWay(to path: String) {
    let parts = path.split(separator: "/").map(String.init)
    for (index, name) in parts.enumerated() {
      let folder = "/" + parts[..<index].joined(separator: "/")
      let isFolder = index < parts.count - 1
      let mask = Self.onTheWay | Self.itself | UInt32(IN_ONLYDIR | IN_MASK_ADD) | (isFolder ? 0 : Self.inAFile)
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

  private func readEvents() -> (isChanged: Bool, mustArm: Bool) {
    var result = (isChanged: false, mustArm: false)
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
          result = (result.isChanged || what.isChanged, result.mustArm || what.mustArm)
          offset = nameStart + Int(event.len)
        }
      }
    }
  }

  private func meaning(of event: inotify_event, _ name: String) -> (isChanged: Bool, mustArm: Bool) {
    if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { return (true, true) }
    // Events of watches that were taken away may still be in the queue.
    guard event.mask & UInt32(IN_IGNORED) == 0, let names = watched[event.wd] else { return (false, false) }
    guard !name.isEmpty else { return (true, true) }
    guard let isFolder = names[name] else { return (false, false) }
    // A file may have become a link, or another one.
    return (true, isFolder || event.mask & UInt32(IN_CREATE | IN_MOVED_TO) != 0)
  }
}
