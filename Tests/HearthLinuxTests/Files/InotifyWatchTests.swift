import Glibc
import HearthCore
import Logging
import Synchronization
import TestSupport
import Testing

@testable import HearthLinux

/// Each test waits for the hint that it expects; a hint that never comes is ended by the time limit.
@Suite("Changes of files", .timeLimit(.minutes(2)))
struct InotifyWatchTests {
  let scratch = TemporaryFolder()
  let files = LinuxFileSystem()
  private var folder: String { scratch.path + "/outer/secure" }
  private var path: String { folder + "/work.json" }

  private func watch(_ paths: [String]? = nil) -> AsyncStream<Void> {
    InotifyWatch(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }).hints(for: paths ?? [path])
  }

  private func makeFolder() async throws {
    try await files.createFolder(scratch.path + "/outer")
    try await files.createFolder(folder)
  }

  private func makeFile(_ path: String) async throws {
    try await files.createFile(path)
    try await files.write([1], to: path)
  }

  /// Waits for the first hint, makes the changes, one by one, and waits for one after each.
  private func expectHints(_ stream: AsyncStream<Void>, _ changes: (() async throws -> Void)...) async throws {
    var hints = stream.makeAsyncIterator()
    #expect(await hints.next() != nil)
    for change in changes {
      try await change()
      #expect(await hints.next() != nil)
    }
  }

  @Test("A file that is made, written in place, made unreadable or removed")
  func file() async throws {
    try await makeFolder()
    try await expectHints(
      watch(),
      { try await files.createFile(path) }, { try await files.write([1], to: path) },
      { try await files.setMode(path, to: 0) }, { try await files.removeFile(path) })
  }

  @Test("Only that a file is made or removed, for a watch of places: the kernel is not asked for writes")
  func places() async throws {
    try await makeFolder()
    let masks = Mutex<[UInt32]>([])
    var calls = Inotify.Calls()
    calls.add = { inotify, folder, mask in
      masks.withLock { $0.append(mask) }
      return inotify_add_watch(inotify, folder, mask)
    }
    let watch = InotifyWatch(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, calls: calls)
    try await expectHints(
      watch.ofPlaces.hints(for: [path]), { try await files.createFile(path) }, { try await files.removeFile(path) })
    #expect(masks.withLock { $0.allSatisfy { $0 & UInt32(IN_MODIFY | IN_CLOSE_WRITE) == 0 } })
  }

  @Test("A file that is replaced by rename, again and again")
  func replaced() async throws {
    try await makeFolder()
    try await makeFile(path)
    func replace() async throws {
      try await makeFile(folder + "/new")
      try await files.rename(folder + "/new", to: path)
    }
    try await expectHints(watch(), { try await replace() }, { try await replace() }, { try await replace() })
  }

  @Test("A volume that is mounted over a folder on the way, and unmounted", .enabled(if: mayMount, "needs root"))
  func mounted() async throws {
    try await makeFolder()
    try await makeFile(path)
    try await expectHints(
      watch(), { #expect(mount("none", scratch.path + "/outer", "tmpfs", 0, nil) == 0) },
      { #expect(umount(scratch.path + "/outer") == 0) })
  }

  private static var mayMount: Bool {
    let folder = TemporaryFolder()
    return mount("none", folder.path, "tmpfs", 0, nil) == 0 && umount(folder.path) == 0
  }

  @Test("A folder that is not there yet, and comes with those above it")
  func folderMade() async throws {
    try await expectHints(
      watch(), { try await files.createFolder(scratch.path + "/outer") }, { try await files.createFolder(folder) },
      { try await makeFile(path) })
  }

  @Test("A folder that is moved away, and another one in its place")
  func folderMoved() async throws {
    try await makeFolder()
    try await makeFile(path)
    let elsewhere = scratch.path + "/elsewhere"
    try await expectHints(
      watch(), { try await files.rename(scratch.path + "/outer", to: elsewhere) },
      { try await files.rename(elsewhere, to: scratch.path + "/outer") }, { try await makeFile2() })
    func makeFile2() async throws { try await files.write([2, 3], to: path) }
  }

  @Test("A folder that is made unreadable and readable again")
  func folderLocked() async throws {
    try await makeFolder()
    try await makeFile(path)
    try await expectHints(
      watch(), { chmod(folder, 0) }, { chmod(folder, 0o700) }, { try await files.write([2], to: path) })
  }

  @Test("Where a link points to")
  func link() async throws {
    try await makeFolder()
    try await makeFile(path)
    #expect(symlink("outer/secure/work.json", scratch.path + "/link") == 0)
    try await expectHints(watch([scratch.path + "/link"]), { try await files.write([2], to: path) })
  }

  @Test("Several files at once")
  func several() async throws {
    try await makeFolder()
    let key = scratch.path + "/key"
    try await expectHints(watch([path, key]), { try await makeFile(key) })
  }

  @Test("Three hundred accounts at once, each its own file: a user may have 128 instances of inotify")
  func manyAccounts() async throws {
    try await makeFolder()
    let watch = InotifyWatch(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    let paths = (0..<300).map { folder + "/\($0).json" }
    var hints = paths.map { watch.hints(for: [$0]).makeAsyncIterator() }
    for index in hints.indices { #expect(await hints[index].next() != nil) }
    for index in hints.indices {
      try await makeFile(paths[index])
      #expect(await hints[index].next() != nil, "\(paths[index])")
    }
  }

  @Test("A watch goes on where another one of the same folder ends")
  func oneOfTwoEnds() async throws {
    try await makeFolder()
    let watch = InotifyWatch(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    let others: [String] = [path, folder + "/other.json"]
    for other in others {
      var stream: AsyncStream<Void>? = watch.hints(for: [other])
      for await _ in stream! { break }
      let lasting = watch.hints(for: [path])
      stream = nil
      try await expectHints(lasting, { try await makeFile(path) }, { try await files.removeFile(path) })
    }
  }

  @Test("When nobody listens any more, nothing is watched")
  func ended() async throws {
    try await makeFolder()
    let inode = "ino:" + String(try await files.status(folder).inode, radix: 16) + " "
    var stream: AsyncStream<Void>? = watch()
    for await _ in stream! { break }
    #expect(try await isWatched(inode))
    stream = nil
    while try await isWatched(inode) { await Task.yield() }
  }

  /// Whether one of this process's inotify descriptors watches the inode (proc(5), /proc/pid/fdinfo).
  private func isWatched(_ inode: String) async throws -> Bool {
    for name in try await files.names(in: "/proc/self/fdinfo") {
      guard let info = try? await files.read("/proc/self/fdinfo/\(name)", limit: 1 << 20, followsLink: false) else {
        continue
      }
      if String(decoding: info.bytes, as: UTF8.self).contains(inode) { return true }
    }
    return false
  }
}
