import Testing

@testable import HearthClient

@Suite("Pauses before a daemon that is away is tried again") struct ReconnectPausesTests {
  @Test("they grow from a tenth of a second to five, and begin anew once it was there")
  func grow() {
    var pauses = ReconnectPauses()
    let some = (1...8).map { _ in pauses.next(share: 1) }
    #expect(some == [100, 200, 400, 800, 1600, 3200, 5000, 5000].map { .milliseconds($0) })
    pauses.reset()
    #expect(pauses.next(share: 0) == .milliseconds(50))
  }
}
