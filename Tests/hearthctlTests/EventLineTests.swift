import HearthControl
import HearthCore
import Testing

@testable import hearthctl

@Suite struct EventLineTests {
  private func line(_ event: EventName, _ params: JSONObject) -> String {
    var whole: JSONObject = ["subscription": "s", "seq": 1, "time": "2026-11-21T10:00:00.000Z"]
    for member in params.members { whole[member.key] = member.value }
    return EventLine(Notification(event, params: whole)).text
  }

  @Test("one event is one line that says when, what and to whom")
  func lines() {
    #expect(
      line(.sessionChanged, ["session": Samples.locked.json, "previous": "authenticated"])
        == "2026-11-21T10:00:00.000Z  session.changed     work: locked (lockedByUser)  "
        + "Locked. Run \"hearthctl unlock work\".")
    #expect(
      line(.outboxRetrying, ["item": Samples.item.json])
        == "2026-11-21T10:00:00.000Z  outbox.retrying     work: POST https://api.example.com/a  item-1 waiting (503)")
    #expect(
      line(.outboxRetrying, ["item": Samples.unreached.json]).hasSuffix(
        "  item-1 waiting (No connection to https://api.example.com: Connection refused)"))
    #expect(
      line(.outboxPaused, ["account": "work", "reason": "user"])
        == "2026-11-21T10:00:00.000Z  outbox.paused       work  reason user")
    #expect(line(.daemonReloaded, [:]) == "2026-11-21T10:00:00.000Z  daemon.reloaded")
  }
}
