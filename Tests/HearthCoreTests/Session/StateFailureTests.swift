import HearthCore
import TestSupport
import Testing

@Suite("The failure of a session without a token")
struct StateFailureTests {
  @Test("says what only the session's status knows, such as the missing file")
  func detail() {
    var session = SessionScript()
    session.reads(.missing("/var/hearth/work.json"))
    session.writesEnd()
    let failure = session.answer(asking: .token(minValidity: nil))?.failure
    #expect(failure?.kind == .reauthRequired && failure?.message == session.snapshot.message)
    #expect(failure?.message.contains("/var/hearth/work.json") == true)
  }

  @Test("says that the token cannot be refreshed while it can still be used")
  func valid() {
    var session = SessionScript.holding(.sample(1, issuedAt: .sample, isRenewable: false))
    let failure = session.answer(asking: .refresh)?.failure
    #expect(failure?.kind == .reauthRequired && session.state == .authenticated)
    #expect(failure?.message == "The token cannot be refreshed. Run \"hearthctl login work\".")
  }
}
