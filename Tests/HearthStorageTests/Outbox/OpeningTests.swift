import GRDB
import Glibc
import HearthCore
import Synchronization
import TestSupport
import Testing

@testable import HearthStorage

@Suite struct OpeningTests {
  private static func sentence(_ path: String) -> String {
    "The outbox \(path) was written by a newer version of Hearth and is left unchanged. Update Hearth, or rename "
      + "the file to start a new outbox."
  }

  @Test(
    "An outbox of a newer version is refused in one sentence and left unchanged, even if it may be damaged",
    arguments: [false, true])
  func newer(needsCheck: Bool) async throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    let path = folder.file("outbox.sqlite")
    // Still open, so that its log is not written back.
    let outbox = try StoreFixture(opening: path, in: folder)
    try await outbox.add(Sample.draft("/1"))
    try await outbox.store.withConnection { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99')") }
    if needsCheck { OutboxFile(path).requestCheck() }
    let before = [folder.bytes(of: "outbox.sqlite"), folder.bytes(of: "outbox.sqlite-wal")]
    #expect(!before[1].isEmpty)

    let refusal = OutboxStoreFailure.unavailable(Self.sentence(path))
    #expect(throws: refusal) { try SQLiteOutboxStore.open(at: path, clock: ManualClock()) }
    #expect(throws: refusal) { try OutboxCheck.problems(at: path) }
    let clock = ManualClock()
    let store = SQLiteOutboxStore.openOrWait(at: path, clock: clock) { _ in }
    await #expect(throws: refusal) { try await store.recover() }
    await #expect(throws: refusal) {
      try await StoreFixture(folder: folder, store: store, clock: clock).add(Sample.draft("/2"))
    }
    #expect([folder.bytes(of: "outbox.sqlite"), folder.bytes(of: "outbox.sqlite-wal")] == before)
    #expect(!folder.names.contains { $0.contains("broken") })
    #expect(try await outbox.store.stats(of: nil).pending == 1)
  }

  @Test("A path that is not a file is refused in a sentence, without waiting for a writer", .timeLimit(.minutes(1)))
  func fifo() async throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    let path = folder.file("outbox.sqlite")
    mkfifo(path, 0o600)
    let refusal = OutboxStoreFailure.unavailable("The outbox \(path) is not a regular file. Rename or remove it.")
    #expect(throws: refusal) { try SQLiteOutboxStore.open(at: path, clock: ManualClock()) }
    #expect(throws: refusal) { try OutboxCheck.problems(at: path) }
  }

  @Test("An outbox that is a symbolic link is refused as such, and its target is left alone")
  func symbolicLink() throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    let path = folder.file("outbox.sqlite")
    symlink(folder.file("elsewhere"), path)
    let refusal = OutboxStoreFailure.unavailable("The outbox \(path) is a symbolic link; rename or remove it.")
    #expect(throws: refusal) { try SQLiteOutboxStore.open(at: path, clock: ManualClock()) }
    #expect(folder.names == ["outbox.sqlite"])
  }

  @Test("An outbox that cannot be opened rejects each call with the reason, until it can be")
  func later() async throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    let path = folder.file("outbox.sqlite")
    mkdir(path, 0o700)
    let clock = ManualClock()
    let store = SQLiteOutboxStore.openOrWait(at: path, clock: clock) { _ in }
    let outbox = StoreFixture(folder: folder, store: store, clock: clock)
    let refusal = OutboxStoreFailure.unavailable("The outbox \(path) cannot be opened: Is a directory.")
    await #expect(throws: refusal) { try await store.recover() }
    await #expect(throws: refusal) { try await outbox.add(Sample.draft("/1")) }
    rmdir(path)
    try await store.recover()
    try await outbox.add(Sample.draft("/1"))
    #expect(try await store.stats(of: nil).pending == 1)
  }

  @Test("The new place of a damaged outbox is reported, whenever it is opened")
  func setAside() async throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    let path = folder.file("outbox.sqlite")
    let file = try #require(fopen(path, "w"))
    fputs(String(repeating: "garbage ", count: 2000), file)
    fclose(file)
    #expect(try OutboxCheck.problems(at: path) == ["The outbox \(path) is damaged: file is not a database."])
    let told = Mutex<[String]>([])
    let store = SQLiteOutboxStore.openOrWait(at: path, clock: ManualClock()) { sentence in
      told.withLock { $0 += [sentence] }
    }
    let notice =
      "The outbox was damaged. It was moved to \(path).broken-\(Sample.start.milliseconds), and a new one was created."
    #expect(told.withLock { $0 } == [notice] && store.notice == notice)
    #expect(try await store.list(OutboxQuery()).items.isEmpty)
  }

  @Test("An emptied outbox is set aside with its log and reported, and one that was never written is started")
  func emptied() async throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    let path = folder.file("outbox.sqlite")
    // As a crash leaves a file that was just created.
    try Files.write("", to: path)
    let told = Mutex<[String]>([])
    let clock = ManualClock()
    func open() -> SQLiteOutboxStore {
      .openOrWait(at: path, clock: clock) { sentence in told.withLock { $0 += [sentence] } }
    }
    #expect(try OutboxCheck.problems(at: path).isEmpty)
    let store = open()
    try await StoreFixture(folder: folder, store: store, clock: clock).add(Sample.draft("/1"))
    #expect(told.withLock { $0 }.isEmpty)
    await store.close()
    #expect(truncate(path, 0) == 0)
    #expect(
      try OutboxCheck.problems(at: path)
        == ["The outbox \(path) is empty although items had been written to it. They are lost."])
    let next = open()
    let place = "\(path).broken-\(Sample.start.milliseconds)"
    #expect(told.withLock { $0 } == ["The outbox was damaged. It was moved to \(place), and a new one was created."])
    #expect(Files.exists(place) && Files.exists(place + "-sent"))
    #expect(try await next.stats(of: nil).pending == 0)
  }

  @Test("An emptied outbox keeps its log, which may still hold its items")
  func emptiedWithLog() throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    let path = folder.file("outbox.sqlite")
    try Files.write("", to: path)
    try Files.write("items", to: path + "-wal")
    #expect(try OutboxCheck.problems(at: path).count == 1)
    let place = try #require(try SQLiteOutboxStore.open(at: path, clock: ManualClock()).setAside)
    #expect(Files.text(place + "-wal") == "items")
  }

  @Test("A reserve that cannot be created because something is in its place is reported as that, not as a full disk")
  func reserveInTheWay() async throws {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    let reserve = folder.file("outbox.sqlite-reserve")
    for (make, what) in [
      ({ _ = symlink("/elsewhere", reserve) }, "is a symbolic link"), ({ _ = mkdir(reserve, 0o700) }, "is a folder"),
    ] {
      make()
      let clock = ManualClock()
      let store = try SQLiteOutboxStore.open(at: folder.file("outbox.sqlite"), clock: clock).store
      let outbox = StoreFixture(folder: folder, store: store, clock: clock)
      await #expect(
        throws: OutboxStoreFailure.unavailable(
          "The outbox accepts no items, because its reserve file \(reserve) \(what); rename or remove it.")
      ) { try await outbox.add(Sample.draft("/1")) }
      #expect(try await store.stats(of: nil).pending == 0)
      // Of either kind.
      remove(reserve)
      try await outbox.add(Sample.draft("/1"))
      await store.close()
      for name in folder.names { unlink(folder.file(name)) }
    }
  }

  @Test(
    "SQLite's errors are reported to people as a sentence that names the outbox",
    arguments: [
      (ResultCode.SQLITE_FULL, "The disk is full, so there is no room for the outbox /o. Free some disk space."),
      (.SQLITE_IOERR, "Reading or writing the outbox /o failed: disk I/O error."),
      (.SQLITE_BUSY, "Another program has locked the outbox /o: database is locked."),
      (.SQLITE_READONLY, "Cannot open the outbox /o for writing: attempt to write a readonly database."),
      (.SQLITE_CORRUPT, "The outbox /o is damaged: database disk image is malformed."),
      (.SQLITE_NOMEM, "Cannot use the outbox /o: out of memory."),
    ])
  func sentences(_ code: ResultCode, _ sentence: String) {
    #expect("\(OutboxStoreFailure(DatabaseError(resultCode: code), at: "/o"))" == sentence)
  }

  @Test("The reserve is a small part of a small disk")
  func reserveSize() {
    let reserve = DiskReserve("/dev/shm/hearth-reserve")
    var disk = statvfs()
    #expect(statvfs("/dev/shm", &disk) == 0)
    let sixteenth = Int(disk.f_blocks) * Int(disk.f_frsize) / 16
    #expect(reserve.size <= max(sixteenth, 256 << 10))
    #expect(reserve.size == 4 << 20 || sixteenth < 4 << 20)
  }
}
