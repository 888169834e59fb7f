import HearthCore
import Logging
import TestSupport
import Testing

@testable import HearthRuntime

@Suite struct DamageLogTests {
  @Test("Damage that a call meets is logged once")
  func once() async throws {
    let log = LogRecorder()
    let damage = "The outbox is damaged."
    try await withService(log: log.logger) { outbox in
      await outbox.idle(until: outbox.clock.now() + .seconds(3 * 3600))
      outbox.store.setFailing(.broken(damage))
      for _ in 0..<2 {
        await #expect(throws: OutboxError.storageUnavailable(damage)) { try await outbox.add(Sample.draft()) }
      }
      #expect(log.records.filter { $0.level >= .error }.map(\.message) == [damage])
      outbox.store.setFailing(nil)
    }
  }
}
