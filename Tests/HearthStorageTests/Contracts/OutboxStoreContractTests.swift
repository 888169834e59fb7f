import HearthCore
import HearthStorage
import TestSupport
import Testing

@Suite("The contract of OutboxStore", .timeLimit(.minutes(1)))
struct OutboxStoreContractTests {
  static let implementations = [
    Implementation<OutboxStoreBench>("SQLiteOutboxStore") { check in try await Self.check(check) { $0 } },
    Implementation<OutboxStoreBench>("FaultyOutboxStore without faults") { check in
      try await Self.check(check) { FaultyOutboxStore($0) }
    },
  ]

  @Test("is kept by the real one and by its double", arguments: OutboxStoreContract.facts, implementations)
  func isKept(_ fact: Fact<OutboxStoreBench>, by store: Implementation<OutboxStoreBench>) async throws {
    try await store.keeps(fact)
  }

  @Test("A store that fails says so and changes nothing", arguments: [OutboxStoreFailure.unavailable("no"), .full])
  func fails(_ failure: OutboxStoreFailure) async throws {
    try await withStore { outbox in
      let store = FaultyOutboxStore(outbox.store)
      store.setFailing(failure)
      let (item, settings) = (try outbox.new(Sample.draft()), outbox.settings)
      await #expect(throws: failure) { try await store.enqueue([item], within: settings) }
      await #expect(throws: failure) { try await store.setPaused([Sample.work], true) }
      store.setFailing(nil)
      #expect(try await store.list(OutboxQuery()).items == [])
      #expect(try await store.configure([]) == [])
    }
  }

  private static func check(
    _ check: Implementation<OutboxStoreBench>.Check, _ wrap: @escaping @Sendable (any OutboxStore) -> any OutboxStore
  ) async throws {
    let folder = TemporaryFolder(isFast: true)
    defer { folder.remove() }
    let clock = ManualClock()
    let open: @Sendable () throws -> any OutboxStore = {
      wrap(try SQLiteOutboxStore.open(at: folder.file("outbox.sqlite"), clock: clock).store)
    }
    try await check(OutboxStoreBench(try open(), clock: clock, reopen: open))
  }
}
