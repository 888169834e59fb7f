import HearthCore
import Logging
import TestSupport
import Testing

@testable import HearthRuntime

@Suite struct StoreFailureTests {
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

  @Test("While it cannot be written down that a request leaves nothing is sent, and it is tried twice a second")
  func unwritable() async throws {
    let log = LogRecorder()
    try await withService(answers200, log: log.logger) { outbox in
      outbox.store.setBeginFailing(.unavailable("The disk fails."))
      await outbox.signIn()
      let id = try await outbox.add(Sample.draft())[0]
      for attempt in 1...3 {
        await outbox.idle(until: outbox.clock.now() + .milliseconds(500))
        #expect(outbox.store.beginCount == attempt)
        #expect(outbox.paths() == [])
        if attempt == 3 { outbox.store.setBeginFailing(nil) }
        outbox.clock.advance(by: .milliseconds(500))
      }
      await outbox.delivered(id)
      #expect(outbox.paths().count == 1)
      #expect(log.records.filter { $0.level >= .error }.map(\.message) == ["The disk fails."])
    }
  }
}
