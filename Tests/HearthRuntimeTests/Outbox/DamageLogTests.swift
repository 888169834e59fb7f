import HearthCore
import Logging
import Synchronization
import TestSupport
import Testing

@testable import HearthRuntime

@Suite struct DamageLogTests {
  private final class Errors: LogHandler, Sendable {
    let messages = Mutex<[String]>([])
    var logLevel: Logger.Level {
      get { .error }
      set {}
    }
    var metadata: Logger.Metadata {
      get { [:] }
      set {}
    }
    subscript(metadataKey _: String) -> Logger.Metadata.Value? {
      get { nil }
      set {}
    }

    func log(event: LogEvent) { messages.withLock { $0.append("\(event.message)") } }
  }

  @Test("Damage that a call meets is logged once")
  func once() async throws {
    let errors = Errors()
    let damage = "The outbox is damaged."
    try await withService(log: Logger(label: "test") { _ in errors }) { outbox in
      await outbox.idle(until: .distantFuture)
      outbox.store.setFailing(.broken(damage))
      for _ in 0..<2 {
        await #expect(throws: OutboxError.storageUnavailable(damage)) { try await outbox.add(Sample.draft()) }
      }
      #expect(errors.messages.withLock(\.self) == [damage])
      outbox.store.setFailing(nil)
    }
  }
}
