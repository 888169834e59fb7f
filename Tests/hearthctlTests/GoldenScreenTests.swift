import HearthControl
import HearthCore
import TestSupport
import Testing

@testable import hearthctl

/// What people see in terminals of several widths, against what was recorded.
@Suite("Screens are as they were recorded") struct GoldenScreenTests {
  private static let widths = [40, 80, 120]
  private let now = Samples.start + .seconds(540)
  private let paint = Paint(isColoured: false)

  private func check(_ name: String, _ screen: (_ columns: Int) -> String) throws {
    let screens = Self.widths.map { columns in
      // What follows the last character of a line nobody sees.
      let screen = screen(columns).split(separator: "\n", omittingEmptySubsequences: false)
        .map { String($0).trimmingBlanksAtEnd() }.joined(separator: "\n")
      for line in screen.split(separator: "\n") where line.count > columns {
        // Words and commands are never broken.
        let text = line.drop { $0 == " " }
        #expect(!text.contains(" ") || text.hasPrefix("\"hearthctl "), "\(columns): \(line)")
      }
      return "\(columns) columns\n" + String(repeating: "-", count: columns) + "\n\(screen)\n"
    }
    #expect(try GoldenFile("\(name).txt").differences(from: screens.joined(separator: "\n")) == [])
  }

  private var troubled: SessionStatus {
    var session = Samples.session("office", message: "Signed in; refreshing fails for now: HTTP 503.")
    (session.history.failures, session.history.lastError) = (3, "id.example.com cannot refresh now: HTTP 503")
    (session.history.lastOutcome, session.history.lastAt) = (.unavailable, now + .seconds(-90))
    session.nextAttemptAt = now + .seconds(20)
    return session
  }

  private var ended: SessionStatus {
    Samples.session(
      "mail", state: .reauthRequired(.refreshTokenRejected),
      message: "Your session was ended by the provider. Run \"hearthctl login mail\".", health: nil)
  }

  @Test("status")
  func status() throws {
    let look = StatusLook(
      sessions: [
        (Samples.session(), Samples.stats(pending: 2, waiting: 1, held: 1)),
        (Samples.locked, Samples.stats(pausedReason: "locked")),
        (troubled, Samples.stats(dead: 1)), (ended, Samples.stats(pausedReason: "user")), (Samples.signedOut, nil),
      ],
      waiting: [Samples.unreached.account: Samples.unreached],
      warnings: [
        "The new configuration was rejected, so the previous one stays in use. Reason: line 3: unknown key "
          + "\"isuer\". Fix it and run \"hearthctl reload\"."
      ],
      log: ["work is signed in.", "The token of office could not be refreshed: HTTP 503"], told: nil)
    try check("status") { look.text(at: now, columns: $0, paint: paint, hasBlocks: true) }
  }

  @Test("doctor")
  func doctor() throws {
    let work = AccountName("work")!
    let findings = [
      Finding(.good, "version", "hearthctl 0.1.0"), Finding(.good, "socket", "/run/user/1000/hearth/rpc.sock"),
      Finding(troubled), Finding(ended), Finding(Samples.session()),
      Finding(
        .bad(.later), "provider.connection", "https://id.example.com cannot be reached.", of: AccountName("office")),
      Finding(.bad(.failed), "clock", "This machine's clock is 90 s behind https://id.example.com's.", of: work),
      Finding(
        .bad(.failed), "clock", "This machine's clock is 90 s behind https://id.example.com's.",
        of: AccountName("home")),
      Finding(.good, "token", "The token is opaque.", of: work),
      Finding(.bad(.failed), "api.answer", "https://api.example.com answers with HTTP 401.", of: work),
      Finding(
        .doubtful, "outbox", "1 dead and 0 held items. Run \"hearthctl outbox list work --state dead\".", of: work),
    ]
    try check("doctor") { DoctorReport(findings: findings, columns: $0, paint: paint).text }
    try check("doctor-fine") {
      DoctorReport(findings: findings.filter { $0.verdict == .good }, columns: $0, paint: paint).text
    }
  }

  @Test("lists")
  func lists() throws {
    var dead = Samples.item
    dead.id = "0198f0de-5a7c-7000-8000-000000000001"
    (dead.state, dead.reason, dead.nextAttemptAt) = (.dead, .rejected, nil)
    dead.url = "https://api.example.com/v1/projects/hearth/notes"
    let table = OutboxListVerb.table([Samples.item, dead], ofSeveral: false, at: now)
    try check("outbox-list") { table.text(within: $0) }
    var other = Samples.unreached
    (other.id, other.account) = ("0198f0de-5a7c-7000-8000-000000000002", AccountName("office")!)
    let accounts = OutboxListVerb.table([dead, other], ofSeveral: true, at: now)
    try check("outbox-list-accounts") { accounts.text(within: $0) }
    #expect(table.text(within: nil).contains("https://api.example.com/v1/projects/hearth/notes"))
    #expect(table.text(within: nil).hasPrefix("ID                                    ACCOUNT  LANE     STATE"))
  }

  @Test("top")
  func top() throws {
    var model = TopModel(at: Samples.start)
    model.observe(
      [
        (Samples.session(), Samples.stats(pending: 2)), (Samples.locked, Samples.stats()),
        (ended, Samples.stats(pausedReason: "user")),
      ], at: Samples.start)
    model.choose(1)
    model.message = "work is locked."
    try check("top") {
      TopPicture(model: model, now: now, columns: $0, rows: 16, paint: paint, hasBlocks: true).text
    }
  }
}
