import Glibc
import HearthCore
import HearthThreads
import Synchronization

/// An instance of inotify(7), with a thread that reads its events.
///
/// It watches the folders of the files and all folders above them, so that a folder that is moved, made readable or
/// created again is noticed too. Mounts, which may appear over a path, are noticed through the kernel's table of mounts
/// (proc(5), /proc/PID/mountinfo).
final class Inotify: Sendable {
  private struct Watcher {
    let paths: [String]
    let hint: @Sendable () -> Void
    /// A thread of its own, for adding a watch hangs where a mount hangs.
    let thread = WorkerThread(linger: 0)
    var isArming = false
    /// Something has changed since its folders were looked at.
    var mustArmAgain = false
  }

  private struct State {
    var watchers: [Int: Watcher] = [:]
    var lastWatcher = 0
    var table = WatchTable()
    /// Watchers whose folders are being looked at: what they have added is not in the table yet.
    var arming = 0
  }

  private struct Descriptors: Sendable {
    let inotify: Int32
    /// The table of mounts; -1 where there is none.
    let mounts: Int32
    /// Closed at the other end when the watch is over.
    let stop: Int32
  }

  private let descriptors: Descriptors
  private let stop: Int32
  private let state = Mutex(State())

  /// Events of a name in a watched folder.
  private static let ofName = UInt32(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB)
  private static let itself = UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_Q_OVERFLOW)
  private static let inAFile = UInt32(IN_MODIFY | IN_CLOSE_WRITE)

  init() throws(FileError) {
    let inotify = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    guard inotify >= 0 else { throw FileError(errno: errno) }
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      let error = FileError(errno: errno)
      close(inotify)
      throw error
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    stop = ends[1]
    descriptors = Descriptors(
      inotify: inotify, mounts: open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC), stop: ends[0])
    WorkerThread(linger: 0).enqueue { [weak self, descriptors] in
      while let changes = Self.waitForChanges(descriptors) { self?.note(changes) }
      close(descriptors.inotify)
      close(descriptors.stop)
      if descriptors.mounts >= 0 { close(descriptors.mounts) }
    }
  }

  /// Has the thread close its descriptors.
  deinit { close(stop) }

  // MARK: - Watchers

  /// Calls `hint` once the files are watched, and after each change. Returns the watcher's number.
  func watch(_ paths: [String], _ hint: @escaping @Sendable () -> Void) -> Int {
    let number = state.withLock { state in
      state.lastWatcher += 1
      state.watchers[state.lastWatcher] = Watcher(paths: paths, hint: hint)
      return state.lastWatcher
    }
    arm(number)
    return number
  }

  func end(_ number: Int) {
    state.withLock { state in
      state.watchers[number] = nil
      state.table.remove(number)
      removeUnused(&state)
    }
  }

  /// Watches the folders that lead to the watcher's files now. A folder that cannot be watched is covered by the watch on
  /// the folder above it.
  private func arm(_ number: Int) {
    let watcher: Watcher? = state.withLock { state in
      guard let watcher = state.watchers[number] else { return nil }
      state.watchers[number]?.mustArmAgain = watcher.isArming
      guard !watcher.isArming else { return nil }
      state.watchers[number]?.isArming = true
      state.arming += 1
      return watcher
    }
    guard let watcher else { return }
    watcher.thread.enqueue { [self] in
      let folders = watcher.paths.flatMap { path in
        guard let target = try? linkTarget(of: path) else { return watchFolders(of: path) }
        let folder = path[...(path.lastIndex(of: "/") ?? path.startIndex)]
        return watchFolders(of: path) + watchFolders(of: target.hasPrefix("/") ? target : folder + target)
      }
      let mustArmAgain = state.withLock { state in
        state.arming -= 1
        state.table.remove(number)
        if state.watchers[number] != nil { state.table.add(number, folders) }
        state.watchers[number]?.isArming = false
        removeUnused(&state)
        return state.watchers[number]?.mustArmAgain ?? false
      }
      watcher.hint()
      if mustArmAgain { arm(number) }
    }
  }

  /// Not while somebody has added watches that are not in the table yet: they may be the same ones.
  private func removeUnused(_ state: inout State) {
    guard state.arming == 0 else { return }
    for watch in state.table.removeUnused() { inotify_rm_watch(descriptors.inotify, watch) }
  }

  private func watchFolders(of path: String) -> [WatchTable.Folder] {
    let parts = path.split(separator: "/").map(String.init)
    return parts.indices.compactMap { index in
      let folder = "/" + parts[..<index].joined(separator: "/")
      let isAbove = index < parts.count - 1
      let mask = Self.ofName | Self.itself | UInt32(IN_ONLYDIR | IN_MASK_ADD) | (isAbove ? 0 : Self.inAFile)
      let watch = inotify_add_watch(descriptors.inotify, folder, mask)
      return watch < 0 ? nil : WatchTable.Folder(watch: watch, name: parts[index], isAbove: isAbove)
    }
  }

  // MARK: - Events

  private struct Event: Sendable {
    let watch: Int32
    let mask: UInt32
    /// Empty where it is the folder itself.
    let name: String
  }

  private struct Changes: Sendable {
    var events: [Event] = []
    var areMountsChanged = false
  }

  /// Returns nil when the watch is over.
  private static func waitForChanges(_ descriptors: Descriptors) -> Changes? {
    var polled = [
      pollfd(fd: descriptors.inotify, events: Int16(POLLIN), revents: 0),
      pollfd(fd: descriptors.stop, events: 0, revents: 0),
      pollfd(fd: descriptors.mounts, events: Int16(POLLPRI), revents: 0),
    ]
    while poll(&polled, 3, -1) < 0 {
      guard errno == EINTR else { return nil }
    }
    if polled[1].revents != 0 { return nil }
    return Changes(events: readEvents(descriptors.inotify), areMountsChanged: polled[2].revents != 0)
  }

  private static func readEvents(_ inotify: Int32) -> [Event] {
    var events: [Event] = []
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = read(inotify, &buffer, buffer.count)
      guard count > 0 else { return events }
      buffer.withUnsafeBytes { bytes in
        var offset = 0
        while offset < count {
          let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
          let nameStart = offset + MemoryLayout<inotify_event>.size
          let name = String(decoding: bytes[nameStart..<nameStart + Int(event.len)].prefix { $0 != 0 }, as: UTF8.self)
          events.append(Event(watch: event.wd, mask: event.mask, name: name))
          offset = nameStart + Int(event.len)
        }
      }
    }
  }

  private func note(_ changes: Changes) {
    var (changed, moved): (Set<Int>, Set<Int>) = ([], [])
    state.withLock { state in
      let isEverything = changes.areMountsChanged || changes.events.contains { $0.mask & UInt32(IN_Q_OVERFLOW) != 0 }
      if isEverything { moved = Set(state.watchers.keys) }
      for event in changes.events {
        if event.mask & UInt32(IN_IGNORED) != 0 {
          state.table.forget(event.watch)
        } else if event.name.isEmpty {
          moved.formUnion(state.table.watchers(of: event.watch))
        } else {
          // The file may have become a link, or another file.
          let isNew = event.mask & UInt32(IN_CREATE | IN_MOVED_TO) != 0
          for (watcher, isAbove) in state.table.watchers(of: event.name, in: event.watch) {
            if isAbove || isNew { moved.insert(watcher) } else { changed.insert(watcher) }
          }
        }
      }
    }
    for watcher in moved { arm(watcher) }
    let hints = state.withLock { state in changed.subtracting(moved).compactMap { state.watchers[$0]?.hint } }
    hints.forEach { $0() }
  }
}
