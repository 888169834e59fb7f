import Glibc
import HearthCore
import HearthThreads
import Synchronization

/// An inotify(7) instance and the thread that reads its events.
///
/// Watches the folder of each file and all folders above it, to notice when a folder is moved, recreated or made
/// readable. The kernel's mount table (proc(5), /proc/PID/mountinfo) shows when something is mounted over a path.
///
/// The kernel limits the instances and watches of each user, and other programs use them too. When they run out, Hearth
/// polls the unwatched files and keeps trying to watch them.
final class Inotify: Sendable {
  /// The system calls that fail when the user has no instances or watches left.
  struct Calls: Sendable {
    var open: @Sendable () -> Int32 = { inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK)) }
    var add: @Sendable (_ inotify: Int32, _ folder: String, _ mask: UInt32) -> Int32 = {
      inotify_add_watch($0, $1, $2)
    }
  }

  private struct Watcher {
    let paths: [String]
    let noticesWrites: Bool
    let hint: @Sendable () -> Void
    /// A separate thread, because adding a watch blocks if a mount hangs.
    let thread = WorkerThread(linger: 0)
    var isArming = false
    /// Whether something changed while the watcher was arming.
    var mustArmAgain = false
    /// Why some of the folders are not watched, or `nil` if all of them are watched.
    var shortage: SystemCallFailure?
  }

  private struct State {
    var watchers: [Int: Watcher] = [:]
    var lastWatcher = 0
    var table = WatchTable()
    /// The number of watchers that are arming. The table does not contain their new watches yet.
    var arming = 0
    /// The last shortage that was reported.
    var shortage: SystemCallFailure?
  }

  /// The descriptors that the thread polls, in a separate class so that the thread does not retain `Inotify`.
  private final class Descriptors: Sendable {
    /// The inotify descriptor, or -1 until it can be created.
    let inotify = Atomic<Int32>(-1)
    /// The mount table, or -1 if it cannot be opened.
    let mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
    /// A pipe that wakes the thread. Closing `waker` ends the thread. Both are -1 if the pipe could not be created.
    let (wake, waker): (Int32, Int32)
    /// Whether the thread also wakes up periodically to poll.
    let isTimed = Atomic(false)

    init() {
      var ends: [Int32] = [-1, -1]
      _ = pipe(&ends)
      for end in ends where end >= 0 {
        _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        _ = fcntl(end, F_SETFL, O_NONBLOCK)
      }
      (wake, waker) = (ends[0], ends[1])
    }

    deinit { for end in [inotify.load(ordering: .relaxed), mounts, wake] where end >= 0 { close(end) } }
  }

  private let calls: Calls
  private let shortageChanged: @Sendable (SystemCallFailure?) -> Void
  private let descriptors = Descriptors()
  private let state = Mutex(State())

  /// Events about an entry of a watched folder.
  private static let ofName = UInt32(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB)
  private static let itself = UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_Q_OVERFLOW)
  private static let inAFile = UInt32(IN_MODIFY | IN_CLOSE_WRITE)

  /// `interval` is the time between polls of unwatched files. `shortageChanged` receives the reason when some folders
  /// cannot be watched, and `nil` when all of them are watched again.
  init(
    calls: Calls = Calls(), interval: Duration, shortageChanged: @escaping @Sendable (SystemCallFailure?) -> Void
  ) {
    (self.calls, self.shortageChanged) = (calls, shortageChanged)
    WorkerThread(linger: 0).enqueue { [weak self, descriptors] in
      var due = ContinuousClock.now + interval
      while let changes = Self.waitForChanges(descriptors, until: due), let watch = self {
        if changes.isTime { due = .now + interval }
        watch.note(changes)
      }
    }
  }

  /// Closing the pipe ends the thread.
  deinit { if descriptors.waker >= 0 { close(descriptors.waker) } }

  // MARK: - Watchers

  /// Calls `hint` at the start, after each change, and at each poll of unwatched files. A write to a file counts only
  /// if `noticesWrites` is true. Returns a number to pass to `end`.
  func watch(_ paths: [String], noticesWrites: Bool, _ hint: @escaping @Sendable () -> Void) -> Int {
    let number = state.withLock { state in
      state.lastWatcher += 1
      state.watchers[state.lastWatcher] = Watcher(paths: paths, noticesWrites: noticesWrites, hint: hint)
      return state.lastWatcher
    }
    arm(number)
    return number
  }

  /// The last reported reason why some folders cannot be watched.
  var shortage: SystemCallFailure? { state.withLock(\.shortage) }

  func end(_ number: Int) {
    state.withLock { state in
      state.watchers[number] = nil
      state.table.remove(number)
      removeUnused(&state)
    }
  }

  /// Watches all folders on the path to each of the watcher's files. If a folder cannot be watched, the watch on its
  /// parent reports when the folder is created or becomes readable.
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
      let (folders, shortage) = watchFolders(of: watcher)
      let mustArmAgain = state.withLock { state in
        state.arming -= 1
        state.table.remove(number)
        if state.watchers[number] != nil { state.table.add(number, folders) }
        state.watchers[number]?.isArming = false
        state.watchers[number]?.shortage = shortage
        removeUnused(&state)
        return state.watchers[number]?.mustArmAgain ?? false
      }
      tellShortage()
      watcher.hint()
      if mustArmAgain { arm(number) }
    }
  }

  /// Removes watches without watchers. Does nothing while a watcher is arming, because that watcher may be about to use
  /// one of them.
  private func removeUnused(_ state: inout State) {
    guard state.arming == 0 else { return }
    let inotify = descriptors.inotify.load(ordering: .relaxed)
    for watch in state.table.removeUnused() { inotify_rm_watch(inotify, watch) }
  }

  /// Turns polling on or off. Reports when files can no longer be watched and when all of them are watched again.
  private func tellShortage() {
    state.withLock { state in
      let shortage = state.watchers.values.lazy.compactMap(\.shortage).first
      descriptors.isTimed.store(shortage != nil, ordering: .relaxed)
      guard (shortage == nil) != (state.shortage == nil) else { return }
      state.shortage = shortage
      // Called with the lock held, so that reports stay in order.
      shortageChanged(shortage)
      _ = write(descriptors.waker, [0], 1)
    }
  }

  /// Returns the inotify descriptor. Creates the instance if it does not exist yet.
  private func instance() throws(SystemCallFailure) -> Int32 {
    try state.withLock { _ throws(SystemCallFailure) in
      var inotify = descriptors.inotify.load(ordering: .relaxed)
      if inotify < 0 {
        inotify = calls.open()
        guard inotify >= 0 else { throw SystemCallFailure("inotify_init1") }
        descriptors.inotify.store(inotify, ordering: .relaxed)
        _ = write(descriptors.waker, [0], 1)
      }
      return inotify
    }
  }

  private func watchFolders(of watcher: Watcher) -> ([WatchTable.Folder], SystemCallFailure?) {
    var (folders, shortage): ([WatchTable.Folder], SystemCallFailure?) = ([], nil)
    let inAFile = watcher.noticesWrites ? Self.inAFile : 0
    do {
      let inotify = try instance()
      for path in watcher.paths {
        watchFolders(of: path, inAFile, inotify, &folders, &shortage)
        guard let target = try? linkTarget(of: path) else { continue }
        let folder = path[...(path.lastIndex(of: "/") ?? path.startIndex)]
        watchFolders(of: target.hasPrefix("/") ? target : folder + target, inAFile, inotify, &folders, &shortage)
      }
    } catch {
      shortage = error
    }
    return (folders, shortage)
  }

  private func watchFolders(
    of path: String, _ inAFile: UInt32, _ inotify: Int32, _ folders: inout [WatchTable.Folder],
    _ shortage: inout SystemCallFailure?
  ) {
    let parts = path.split(separator: "/").map(String.init)
    for index in parts.indices {
      let folder = "/" + parts[..<index].joined(separator: "/")
      let isAbove = index < parts.count - 1
      let mask = Self.ofName | Self.itself | UInt32(IN_ONLYDIR | IN_MASK_ADD) | (isAbove ? 0 : inAFile)
      let watch = calls.add(inotify, folder, mask)
      if watch >= 0 {
        folders.append(WatchTable.Folder(watch: watch, name: parts[index], isAbove: isAbove))
      } else if [ENOSPC, ENOMEM].contains(errno) {
        shortage = SystemCallFailure("inotify_add_watch")
      }
    }
  }

  // MARK: - Events

  private struct Changes: Sendable {
    /// For each event, the watch, the mask and the name of the folder's entry. The name is an empty string if the event
    /// concerns the folder itself.
    var events: [(watch: Int32, mask: UInt32, name: String)] = []
    var areMountsChanged = false
    /// Whether the unwatched files are due for polling.
    var isTime = false
  }

  /// Waits for changes, but only until `due` if some files are unwatched or no pipe can wake the thread. Returns `nil`
  /// when the thread must end.
  private static func waitForChanges(_ descriptors: Descriptors, until due: ContinuousClock.Instant) -> Changes? {
    let inotify = descriptors.inotify.load(ordering: .relaxed)
    var polled = [
      pollfd(fd: inotify, events: Int16(POLLIN), revents: 0),
      pollfd(fd: descriptors.wake, events: Int16(POLLIN), revents: 0),
      pollfd(fd: descriptors.mounts, events: Int16(POLLPRI), revents: 0),
    ]
    let isTimed = descriptors.wake < 0 || descriptors.isTimed.load(ordering: .relaxed)
    while poll(&polled, 3, isTimed ? Int32(max((due - .now) / .milliseconds(1), 0)) + 1 : -1) < 0 {
      guard errno == EINTR else { return nil }
    }
    if polled[1].revents & Int16(POLLHUP) != 0 { return nil }
    var buffer = [UInt8](repeating: 0, count: 64)
    if polled[1].revents != 0 { _ = read(descriptors.wake, &buffer, buffer.count) }
    return Changes(
      events: readEvents(inotify), areMountsChanged: polled[2].revents != 0, isTime: isTimed && .now >= due)
  }

  private static func readEvents(_ inotify: Int32) -> [(watch: Int32, mask: UInt32, name: String)] {
    var events: [(watch: Int32, mask: UInt32, name: String)] = []
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
          events.append((event.wd, event.mask, name))
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
      if changes.isTime { moved.formUnion(state.watchers.filter { $0.value.shortage != nil }.keys) }
      for event in changes.events {
        if event.mask & UInt32(IN_IGNORED) != 0 {
          state.table.forget(event.watch)
        } else if event.name.isEmpty {
          moved.formUnion(state.table.watchers(of: event.watch))
        } else {
          // A new entry can be a link or a different file, so the watcher must be armed again.
          let isNew = event.mask & UInt32(IN_CREATE | IN_MOVED_TO) != 0
          for (watcher, isAbove) in state.table.watchers(of: event.name, in: event.watch) {
            if isAbove || isNew { moved.insert(watcher) } else { changed.insert(watcher) }
          }
        }
      }
    }
    if changes.isTime { tellShortage() }
    for watcher in moved { arm(watcher) }
    let hints = state.withLock { state in changed.subtracting(moved).compactMap { state.watchers[$0]?.hint } }
    hints.forEach { $0() }
  }
}
