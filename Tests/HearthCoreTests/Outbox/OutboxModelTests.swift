import TestSupport
import Testing

@Suite("The model of the outbox")
struct OutboxModelTests {
  @Test(
    "keeps the contract of OutboxStore, so that the simulation shows what a store has to do",
    arguments: OutboxStoreContract.facts)
  func keepsTheContract(_ fact: Fact<OutboxStoreBench>) async throws {
    let clock = ManualClock()
    let store = MemoryOutboxStore(clock: clock)
    try await fact.check(OutboxStoreBench(store, clock: clock) { store.reopened() })
  }
}
