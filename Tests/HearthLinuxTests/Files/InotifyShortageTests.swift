import Glibc
import HearthCore
import TestSupport
import Testing

@testable import HearthLinux

/// What cannot be watched is looked at again by the time, here after each 10 ms.
@Suite("Files that inotify has no room for", .timeLimit(.minutes(2)))
struct InotifyShortageTests {
  let scratch = TemporaryFolder()
  let log = LogRecorder()
  private let hasRoom = Flag(true)
  private let hasInstance = Flag(true)
  private var folder: String { scratch.path + "/secure" }
  private var path: String { folder + "/work.json" }

  private func watch() -> InotifyWatch {
    let real = Inotify.Calls()
    var calls = real
    calls.open = { [hasInstance] in
      guard !hasInstance.isSet else { return real.open() }
      errno = EMFILE
      return -1
    }
    calls.add = { [hasRoom] in
      let watch = real.add($0, $1, $2)
      // The folders above have been watched long since.
      guard !hasRoom.isSet, $1.hasSuffix("/secure"), watch >= 0 else { return watch }
      inotify_rm_watch($0, watch)
      errno = ENOSPC
      return -1
    }
    return InotifyWatch(logger: log.logger, calls: calls, interval: .milliseconds(10))
  }

  private func makeFile() throws {
    try Files.makeFolder(folder)
    try Files.write("1", to: path)
  }

  private var messages: [String] { log.records.map(\.message) }

  /// Waits until the watch says that all is watched again.
  private func waitUntilWatched(_ watch: InotifyWatch) throws {
    try eventually("all is watched again") { watch.trouble == nil }
    try eventually("it is said") { messages.count == 2 }
    #expect(messages[1].contains("can watch its files again"))
  }

  @Test("are looked at again and again, which is said once with what to do, and watched once there is room")
  func noWatch() async throws {
    try makeFile()
    hasRoom.isSet = false
    let watch = watch()
    var hints = watch.hints(for: [path]).makeAsyncIterator()
    for _ in 0..<5 { #expect(await hints.next() != nil) }
    #expect(messages.count == 1 && messages[0] == watch.trouble)
    #expect(messages[0].contains("the limit for inotify watches"))
    #expect(messages[0].contains("fs.inotify.max_user_watches"))
    hasRoom.isSet = true
    try waitUntilWatched(watch)
    // The last of those that came by the time.
    _ = await hints.next()
    try Files.write("2", to: path)
    #expect(await hints.next() != nil)
  }

  @Test("are looked at, too, where there is no instance of it")
  func noInstance() async throws {
    try makeFile()
    hasInstance.isSet = false
    let watch = watch()
    var hints = watch.hints(for: [path]).makeAsyncIterator()
    for _ in 0..<5 { #expect(await hints.next() != nil) }
    #expect(messages.count == 1 && messages[0].contains("fs.inotify.max_user_instances"))
    hasInstance.isSet = true
    try waitUntilWatched(watch)
  }

  @Test("are looked at where the room is gone when their folder is made again")
  func later() async throws {
    try makeFile()
    let watch = watch()
    var hints = watch.hints(for: [path]).makeAsyncIterator()
    #expect(await hints.next() != nil)
    #expect(watch.trouble == nil && messages.isEmpty)
    // In this order: a folder that is still there would be found to have no room, and one that is gone to need none.
    Files.removeTree(folder)
    hasRoom.isSet = false
    try makeFile()
    while watch.trouble == nil { #expect(await hints.next() != nil) }
    for _ in 0..<5 { #expect(await hints.next() != nil) }
    #expect(messages.count == 1)
    hasRoom.isSet = true
    try waitUntilWatched(watch)
  }

  @Test("are looked at however much else happens in the folders that are watched")
  func busy() async throws {
    try makeFile()
    hasRoom.isSet = false
    let watch = watch()
    let hints = watch.hints(for: [path])
    let isOver = Flag(false)
    await withTaskGroup { group in
      group.addTask { [scratch] in
        while !isOver.isSet {
          try? Files.write("", to: scratch.file("other"))
          try? Files.remove(scratch.file("other"))
          await Task.yield()
        }
      }
      var count = 0
      for await _ in hints {
        count += 1
        if count == 5 { break }
      }
      isOver.isSet = true
    }
  }
}
