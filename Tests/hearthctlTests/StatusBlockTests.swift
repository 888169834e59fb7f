import HearthCore
import Testing

@testable import hearthctl

@Suite struct StatusBlockTests {
  private func block(
    _ session: SessionStatus, outbox: OutboxStats? = OutboxStats(), isColoured: Bool = false
  ) -> String {
    StatusBlock(
      session: session, outbox: outbox, now: Samples.start + .seconds(540), paint: Paint(isColoured: isColoured)
    ).text
  }

  @Test("tells state, whose, the token's life, the last refresh and the outbox")
  func authenticated() {
    #expect(
      block(Samples.session(), outbox: Samples.stats(pending: 2, held: 1)) == """
        work  signed in
          who       2482 at https://id.example.com
          token     51 min left, refreshes in 40 min
          signed in 9 min ago
          outbox    2 pending, 1 held. Run "hearthctl outbox list work --state held".
        """)
  }

  @Test("tells how the last refresh ended, and when; a sign-in is none")
  func refresh() {
    var session = Samples.session()
    session.history.lastAt = Samples.start + .seconds(60)
    #expect(block(session).contains("\n  refreshed 8 min ago\n"))
    session.since = Samples.start + .seconds(120)
    #expect(block(session).contains("\n  new token 8 min ago\n"), "unlocked since then")
    (session.history.lastAt, session.history.lastOutcome) = (Samples.start + .seconds(540), .rejected)
    #expect(block(session).contains("\n  refresh   rejected just now\n"))
    session.isRefreshing = true
    #expect(block(session).contains("\n  refresh   rejected just now, a refresh is in progress\n"))
  }

  @Test("draws the token's life where it is asked to")
  func life() {
    let block = StatusBlock(
      session: Samples.session(), outbox: nil, now: Samples.start + .seconds(540), paint: Paint(isColoured: false),
      hasBlocks: false)
    #expect(block.text.contains("\n  life      #######|##########################......\n  token     51 min left"))
  }

  @Test("tells what to do when locked or signed out")
  func todo() {
    let locked = block(Samples.locked)
    #expect(locked.hasPrefix("work  locked by you\n  Locked. Run \"hearthctl unlock work\".\n"))
    #expect(!locked.contains("token"))
  }

  @Test("tells what is wrong with refreshing, the credential and the outbox")
  func trouble() {
    var session = Samples.expired
    (session.history.failures, session.history.lastError) = (3, "id.example.com cannot be reached")
    session.nextAttemptAt = Samples.start + .seconds(560)
    (session.isWritePending, session.credentialError) = (true, "disk full")
    let text = block(session, outbox: Samples.stats(pausedReason: "user"))
    #expect(text.contains("token     expired 2 min ago"))
    #expect(
      text.contains(
        "trouble   id.example.com cannot be reached (3 failures), next try in 20 s. Run \"hearthctl retry work\"."))
    #expect(text.contains("credential not on disk yet: disk full"))
    #expect(text.contains("outbox    empty, paused by you. Run \"hearthctl outbox resume work\"."))
    var stats = Samples.stats(pending: 1)
    stats.trouble = "The disk is full. Hearth sends nothing until it can write to the outbox."
    #expect(
      block(session, outbox: stats)
        .hasSuffix(
          "\n  outbox    1 pending\n  disk      The disk is full. Hearth sends nothing until it can write to "
            + "the outbox."))
    let unread = block(session, outbox: nil)
    #expect(unread.contains("\n  outbox    cannot be read. Run \"hearthctl outbox stats\" to see why."))
  }

  @Test("says why items wait, and when the next attempt is unless something else holds them back")
  func delivery() {
    func row(_ stats: OutboxStats, _ item: OutboxItem) -> Substring? {
      StatusBlock(
        session: Samples.session(), outbox: stats, waiting: item, now: Samples.start + .seconds(540),
        paint: Paint(isColoured: false)
      ).text.split(separator: "\n").first { $0.hasPrefix("  delivery") }
    }
    let (stats, item) = (Samples.stats(waiting: 1), Samples.unreached)
    #expect(
      row(stats, item)
        == "  delivery  No connection to https://api.example.com: Connection refused, next try in 20 s")
    #expect(row(Samples.stats(waiting: 1, pausedReason: "offline"), item)?.hasSuffix("next try in 20 s") == true)
    #expect(
      row(Samples.stats(waiting: 1, pausedReason: "locked"), item)
        == "  delivery  No connection to https://api.example.com: Connection refused")
    var refused = item
    (refused.lastStatus, refused.lastError) = (503, "The server returned HTTP 503.")
    #expect(row(stats, refused) == "  delivery  The server returned HTTP 503, next try in 20 s")
    #expect(row(stats, Samples.item) == nil)
  }

  @Test("tells of a sign-in under way, how it goes on and how long it may take")
  func signIn() {
    var session = Samples.locked
    session.signIn = SignInProgress(flow: .browser, expiresAt: Samples.start + .seconds(540 + 570))
    #expect(block(session).contains("\n  sign-in   in progress in the browser, 9 min left\n"))
    session.signIn?.message = "The answer was not used."
    #expect(block(session).contains("9 min left. The answer was not used.\n"))
    session.signIn = SignInProgress(flow: .device, expiresAt: Samples.start)
    #expect(block(session).contains("\n  sign-in   in progress with a code on another device, 0 s left\n"))
  }

  @Test("has colours only where they were asked for")
  func colours() {
    #expect(!block(Samples.session()).contains("\u{1B}"))
    let hostile = block(Samples.session(subject: "a\u{1B}]0;b\u{07}\nc"))
    #expect(hostile.contains("  a\\u{1B}]0;b\\u{7}\\u{A}c at https://id.example.com"))
    #expect(block(Samples.session(), isColoured: true).contains("\u{1B}[32msigned in\u{1B}[0m"))
  }
}
