import HearthCore
import HearthStorage
import Logging
import TestSupport
import Testing

@Suite("The contract of ResponseStore", .timeLimit(.minutes(1)))
struct ResponseStoreContractTests {
  static let implementations = [
    Implementation<ResponseStoreBench>("SQLiteResponseStore") { check in
      let folder = TemporaryFolder(isFast: true)
      defer { folder.remove() }
      let open: @Sendable () -> SQLiteResponseStore = {
        SQLiteResponseStore(
          path: folder.file("responses.sqlite"), limits: ResponseStoreBench.limits, logger: Logger(label: "test"))
      }
      let store = open()
      try await check(
        ResponseStoreBench(store) {
          await store.close()
          return open()
        })
      await store.close()
    },
    Implementation<ResponseStoreBench>("MemoryResponseStore") { check in
      let store = MemoryResponseStore(limits: ResponseStoreBench.limits)
      try await check(ResponseStoreBench(store) { store })
    },
  ]

  @Test("is kept by the real one and by its double", arguments: ResponseStoreContract.facts, implementations)
  func isKept(_ fact: ResponseFact, by store: Implementation<ResponseStoreBench>) async throws {
    try await store.keeps(fact)
  }
}
