import HearthCore
import Logging
import TestSupport
import Testing

@testable import HearthRuntime

@Suite struct SendingLogTests {
  @Test("The log at debug tells with which token an item goes out, by its fingerprint")
  func fingerprint() async throws {
    let log = LogRecorder()
    try await withService(answers200, log: log.logger) { outbox in
      await outbox.signIn()
      let id = try await outbox.add(Sample.draft())[0]
      await outbox.delivered(id)
      let record = try #require(log.records.first { $0.message.hasPrefix("Sending item \(id) ") })
      #expect(record.level == .debug && record.fields["HEARTH_ITEM"] == id)
      #expect(outbox.api.log.map { $0.fingerprint?.description } == [record.fields["HEARTH_FINGERPRINT"]])
    }
  }
}
