import GRDB
import Glibc
import HearthCore
import Logging
import TestSupport
import Testing

@testable import HearthStorage

@Suite("The database of kept answers", .timeLimit(.minutes(1))) struct SQLiteResponseStoreTests {
  private let folder = TemporaryFolder(isFast: true)
  private let recorder = LogRecorder()
  private var path: String { folder.file("responses.sqlite") }

  private func store() -> SQLiteResponseStore {
    SQLiteResponseStore(path: path, logger: recorder.logger)
  }

  private func kept(_ body: String, _ store: SQLiteResponseStore) async throws -> StoredResponse? {
    await store.keep(ResponseStoreContract.response(body), for: try ResponseStoreContract.key())
    return await store.find(try ResponseStoreContract.key())
  }

  private func isInFiles(_ text: String) -> Bool {
    folder.names.contains { String(decoding: folder.bytes(of: $0), as: UTF8.self).contains(text) }
  }

  @Test("exists only once something was kept, and only its owner may read it and its log")
  func isPrivate() async throws {
    let store = store()
    #expect(await store.find(try ResponseStoreContract.key()) == nil)
    await store.wipe(Sample.work, keeping: nil)
    #expect(folder.names == [])
    _ = try await kept("body", store)
    #expect(folder.names.contains("responses.sqlite-wal"))
    for name in folder.names {
      var status = stat()
      #expect(stat(folder.file(name), &status) == 0 && status.st_mode & 0o777 == 0o600, "\(name)")
    }
    await store.close()
  }

  @Test("has nothing left of wiped answers, neither in free pages nor in its log")
  func wiped() async throws {
    let store = store()
    let body = String(repeating: "the diary of alice ", count: 2000)
    _ = try await kept(body, store)
    #expect(isInFiles("the diary of alice"))
    await store.wipe(Sample.work, keeping: Sample.bob)
    #expect(!isInFiles("the diary of alice"))
    await store.close()
    #expect(!isInFiles("diary"))
  }

  @Test("has nothing left of answers removed or replaced before the user signed out, either")
  func wipedBefore() async throws {
    let store = store()
    _ = try await kept("the first diary", store)
    _ = try await kept("the second diary", store)
    await store.remove(try ResponseStoreContract.key())
    #expect(isInFiles("first diary") && isInFiles("second diary"))
    await store.wipe(Sample.work, keeping: nil)
    #expect(!isInFiles("diary"))
    await store.close()
  }

  @Test("has no values of header fields that select an answer, because they may be secrets")
  func selectors() async throws {
    let store = store()
    let key = try ResponseStoreContract.key("/a", ["Cookie": "secret-cookie"])
    await store.keep(ResponseStoreContract.response("body", selectors: ["cookie"]), for: key)
    #expect(await store.find(key) != nil)
    await store.close()
    #expect(!isInFiles("secret-cookie"))
  }

  @Test("is replaced if it is damaged or of another version, and the log says so")
  func damaged() async throws {
    let first = store()
    _ = try await kept("body", first)
    await first.close()
    let damages: [() throws -> Void] = [
      {
        let file = fopen(path, "r+")
        fputs(String(repeating: "no database ", count: 20), file)
        fclose(file)
      },
      { try DatabaseQueue(path: path).write { try $0.execute(sql: "PRAGMA user_version = 7") } },
      { try DatabaseQueue(path: path).write { try $0.execute(sql: "DROP TABLE responses") } },
      { try DatabaseQueue(path: path).write { try $0.execute(sql: "UPDATE responses SET headers = x'FF'") } },
    ]
    for (number, damage) in damages.enumerated() {
      try damage()
      let store = store()
      #expect(await store.find(try ResponseStoreContract.key()) == nil, "\(number)")
      #expect(try await kept("again", store) == ResponseStoreContract.response("again"), "\(number)")
      await store.close()
    }
    #expect(recorder.records.map(\.message).count == damages.count)
  }

  @Test("keeps nothing and fails nothing if it cannot be opened, and the log says so once")
  func unusable() async throws {
    #expect(mkfifo(path, 0o600) == 0)
    let store = store()
    #expect(try await kept("body", store) == nil)
    #expect(try await kept("body", store) == nil)
    #expect(
      recorder.records.map(\.message) == [
        "API responses are not cached: \(path) is not a regular file; rename or remove it."
      ])
  }

  @Test("is removed as a whole if an answer cannot be wiped")
  func unwipeable() async throws {
    let store = store()
    _ = try await kept("the diary", store)
    let other = try DatabaseQueue(path: path)
    try await other.write {
      try $0.execute(sql: "CREATE TRIGGER no BEFORE DELETE ON responses BEGIN SELECT RAISE(FAIL, 'no'); END")
    }
    await store.wipe(Sample.work, keeping: nil)
    #expect(!isInFiles("the diary"))
    #expect(try await kept("again", store) == ResponseStoreContract.response("again"))
    await store.close()
  }
}
