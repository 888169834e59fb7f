import HearthClient
import HearthControl
import HearthCore
import TestSupport
import Testing

@testable import hearthctl

@Suite struct TopTests {
  private let start = Samples.start

  @Test(
    "an hour's figures are told by the minute, in as many parts as there is room for, blank where nothing was watched")
  func lastHour() {
    var hour = LastHour()
    hour.add(2, at: start)
    hour.add(1, at: start + .seconds(30))
    hour.add(0, at: start + .seconds(60))
    #expect(hour.sum == 3)
    #expect(hour.parts(60, at: start + .seconds(60)).suffix(3) == [nil, 3, 0])
    #expect(hour.parts(6, at: start + .seconds(60)) == [nil, nil, nil, nil, nil, 3], "the largest of each part")
    hour.add(1, at: start + .seconds(3600))
    #expect(hour.sum == 1, "what is older than an hour is gone")
  }

  @Test("what is seen several times in a minute counts once, with its largest value")
  func largest() {
    var hour = LastHour()
    for value in [3, 7, 5] { hour.see(value, at: start) }
    #expect(hour.sum == 7)
  }

  @Test("a sparkline is blank, lowest, or higher the larger the figure is; one that is not 0 is never the lowest")
  func sparkline() {
    #expect(LastHour.sparkline([nil, 0, 1, 50, 100], hasBlocks: true) == " ▁▂▄█")
    #expect(LastHour.sparkline([nil, 0, 0], hasBlocks: true) == " ▁▁")
    #expect(LastHour.sparkline([nil, 0, 1, 2], hasBlocks: false) == " _-#")
  }

  @Test("refreshes and failures are counted as they happen, deliveries as their number grows")
  func counts() {
    var session = Samples.session()
    var account = TopAccount(session, Samples.stats(), at: start)
    #expect(account.refreshes.sum == 0, "what happened before is not counted")
    session.history.lastAt = start + .seconds(10)
    var stats = Samples.stats(pending: 3, waiting: 1)
    stats.delivered = 5
    account.observe(session, stats, at: start + .seconds(10))
    account.observe(session, stats, at: start + .seconds(11))
    #expect(account.refreshes.sum == 1)
    #expect((account.sent.sum, account.depth) == (5, 4))
    stats.delivered = 0
    (session.history.failures, session.history.lastOutcome) = (2, .unavailable)
    session.history.lastAt = start + .seconds(20)
    account.observe(session, stats, at: start + .seconds(20))
    #expect((account.refreshes.sum, account.failures.sum, account.sent.sum) == (1, 2, 5), "swept items are not unsent")
  }

  @Test("keys are letters and arrows in both modes of a terminal; what is none of them is nothing")
  func keys() {
    #expect(TopKey.read(Array("jkq".utf8)) == [.down, .up, .quit])
    #expect(TopKey.read(Array("\u{1B}[A\u{1B}OB\u{1B}[1;5Ax".utf8)) == [.up, .down, .up])
    #expect(TopKey.read(Array("luratp".utf8)) == [.lock, .unlock, .refresh, .again, .retry, .pause].map { .act($0) })
    #expect(TopKey.read(Array("\u{1B}[2~\u{1B}[C\u{1B}".utf8)) == [])
  }

  private func picture(_ model: TopModel, columns: Int = 80, rows: Int = 12) -> [String] {
    TopPicture(
      model: model, now: start + .seconds(540), columns: columns, rows: rows, paint: Paint(isColoured: false),
      hasBlocks: false
    ).text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  private func model(_ accounts: Int) -> TopModel {
    var model = TopModel(at: start)
    model.observe((0..<accounts).map { (Samples.session("work\($0)"), Samples.stats(pending: 2)) }, at: start)
    return model
  }

  @Test("shows each account's life and figures, what happened and the keys, in the terminal's size")
  func shows() {
    var model = model(1)
    model.note(Notification(.daemonReloaded, params: [:]), at: start)
    let lines = picture(model)
    #expect(lines.count == 12)
    #expect(lines.allSatisfy { $0.count <= 80 }, "\(lines)")
    #expect(lines[0] == "hearthctl top  1 account; counts since top started 9 min ago")
    #expect(lines[2] == "> work0            signed in             ####|###############... 51 min left")
    #expect(lines[3] == "  refreshed     _ 0  failed       _  0  queued       #  2  sent         _  0")
    #expect(lines[5] == "Recent events")
    #expect(lines[11].hasPrefix("q quit  jk choose  l lock"))
  }

  @Test("in a narrow terminal the keys take several lines, as many as its height allows, quitting first")
  func narrowKeys() {
    let keys = ["q quit  jk choose  l lock  u unlock", "r refresh  a retry  p pause  t retry dead"]
    #expect(picture(model(1), columns: 44).suffix(2) == keys[...])
    #expect(picture(model(1), columns: 44, rows: 7).last == keys[0])
  }

  @Test("an account that needs attention shows the command, after its state or instead of its figures")
  func commands() {
    var model = TopModel(at: start)
    model.observe([(Samples.signedOut, Samples.stats(pending: 2))], at: start)
    #expect(picture(model)[2] == "> home             sign-in needed        hearthctl login home")
    #expect(picture(model)[3].contains("queued"))
    #expect(
      picture(model, columns: 40)[2...3].map { $0.trimmingBlanksAtEnd() }
        == ["> home       sign-in needed", "  hearthctl login home"])
  }

  @Test("events wrap between words, the newest in full; a narrow terminal leaves out event names and ids")
  func events() {
    var model = model(1)
    for item in [Samples.item, Samples.unreached] {
      model.note(
        Notification(.outboxRetrying, params: ["subscription": "s", "seq": 1, "item": item.json]), at: start)
    }
    let time = start.timeOfDay
    #expect(
      picture(model, columns: 40, rows: 14).drop { $0 != "Recent events" }.dropFirst().prefix(4) == [
        "\(time)  work: POST", "  https://api.example.com/a  waiting (No",
        "  connection to https://api.example.com:", "  Connection refused)",
      ])
    let wide = picture(model, columns: 160, rows: 14).joined(separator: " ")
    #expect(wide.contains("outbox.retrying") && wide.contains("item-1 waiting (503)"))
    #expect(wide.contains("waiting (No connection to https://api.example.com: Connection refused)"))
  }

  @Test(
    "p resumes what the user has paused, and pauses what something else keeps back for now",
    arguments: [
      (nil, PauseOutbox.name, "Paused work's outbox."), ("locked", PauseOutbox.name, "Paused work's outbox."),
      ("user", ResumeOutbox.name, "Resumed work's outbox."),
    ])
  func pause(_ reason: String?, _ method: String, _ message: String) async throws {
    let daemon = FakeDaemon { request in
      request.method == method ? .result([:]) : .hangUp
    }
    let account = TopAccount(Samples.session("work"), Samples.stats(pausedReason: reason), at: start)
    let result = try await onThread {
      var client = try ControlClient(path: daemon.path)
      let action = try BegunAction(.pause, account, &client)
      return try eventually("an answer") { try action.result(&client) }
    }
    #expect(result == message)
  }

  @Test(
    "a reads the credential again and then asks the provider, unless the session says that somebody is needed",
    arguments: [(Samples.session(), "work has a new token.", 2), (Samples.locked, Samples.locked.message, 1)])
  func again(_ session: SessionStatus, _ message: String, _ calls: Int) async throws {
    let daemon = FakeDaemon { request in
      switch request.method {
      case RehydrateSessions.name: .result(["sessions": [session.json]])
      case RefreshSession.name: .result(session.json)
      default: .hangUp
      }
    }
    let account = TopAccount(Samples.session("work"), Samples.stats(), at: start)
    let result = try await onThread {
      var client = try ControlClient(path: daemon.path)
      let action = try BegunAction(.again, account, &client)
      return try eventually("an answer") { try action.result(&client) }
    }
    #expect(result == message)
    #expect(daemon.asked.map(\.method) == [RehydrateSessions.name, RefreshSession.name].prefix(calls).map { $0 })
  }

  @Test(
    "keeps the chosen account in the picture, and every size of terminal shows something that fits",
    arguments: [1, 3, 7, 24])
  func sizes(rows: Int) {
    var model = model(20)
    for _ in 0..<15 { model.choose(1) }
    for columns in [1, 20, 40, 80, 200] {
      let lines = picture(model, columns: columns, rows: rows)
      #expect(lines.count <= rows)
      if columns >= 40 { #expect(lines.allSatisfy { $0.count <= columns }, "\(lines)") }
      if rows >= 7, columns >= 20 { #expect(lines.contains { $0.hasPrefix("> work15") }, "\(lines)") }
    }
  }

  @Test("a line as wide as the screen keeps its last character, and everything below the picture is erased")
  func frame() {
    let (begin, end) = ("\u{1B}[?2026h\u{1B}[H", "\u{1B}[?2026l")
    #expect(LiveScreen.frame("ab\ncd\nef", rows: 2) == "\(begin)\u{1B}[Kab\r\n\u{1B}[Kcd\(end)")
    #expect(LiveScreen.frame("ab", rows: 2) == "\(begin)\u{1B}[Kab\r\n\u{1B}[J\(end)")
  }

  @Test("the choice stays with its account when others come and go, and begins at the first")
  func choice() {
    var model = model(3)
    #expect(model.selection == 0)
    model.choose(1)
    model.choose(9)
    #expect(model.chosen?.session.account == AccountName("work2"))
    model.observe([(Samples.session("work2"), Samples.stats())], at: start)
    #expect(model.selection == 0)
    model.observe([], at: start)
    #expect(model.selection == nil)
    #expect(picture(model).contains("There are no accounts in the configuration."))
  }
}
