import HearthCore
import TestSupport
import Testing

@Suite("Grants that still have to be revoked")
struct RevocationBacklogTests {
  private let start = Timestamp.sample

  private func pending(_ number: Int, subject: Subject? = .sample, at now: Timestamp = .sample) -> PendingRevocation {
    PendingRevocation(
      of: .sample(number, subject: subject, issuedAt: now), .sample, id: "\(number)", keeping: .ownKey, at: now)
  }

  /// A revocation that has just failed.
  private func backlog(_ pending: PendingRevocation, share: Double = 0) -> RevocationBacklog {
    var backlog = RevocationBacklog()
    #expect(backlog.failed(pending, retryAfter: nil, share: share, at: start) == [])
    return backlog
  }

  private let unanswered = RevocationOutcome.unavailable(retryAfter: nil)

  @Test(
    "A failed revocation is retried after at least half a minute, then less and less often, down to every few hours")
  func backoff() {
    let first = pending(1)
    var backlog = backlog(first)
    var now = start
    for seconds in [30, 60, 120, 240, 480, 960, 1920, 3840, 7680, 10_800, 10_800] {
      #expect(backlog.nextWake == now + .seconds(seconds))
      #expect(backlog.woke(at: now + .seconds(seconds - 1)) == [])
      now = now + .seconds(seconds)
      #expect(backlog.woke(at: now) == [.ask(first)])
      #expect(backlog.woke(at: now) == [], "it is asked once at a time")
      #expect(backlog.ended(first.id, unanswered, share: 0, at: now) == [])
    }
  }

  @Test("A wait keeps its length if the clock is stepped by hours", arguments: [-36_000, 36_000])
  func clockStep(_ seconds: Int) {
    let (first, step) = (pending(1), Duration.seconds(seconds))
    var backlog = backlog(first)
    backlog.move(by: step)
    #expect(backlog.nextWake == start + step + .seconds(30))
    #expect(backlog.woke(at: start + step + .seconds(29)) == [])
    #expect(backlog.woke(at: start + step + .seconds(30)) == [.ask(first)])
  }

  @Test("A moment in which the clock is a week ahead gives up nothing")
  func clockAhead() {
    var backlog = backlog(pending(1))
    backlog.move(by: .seconds(8 * 86_400))
    #expect(backlog.woke(at: start + .seconds(8 * 86_400)) == [])
    backlog.move(by: .seconds(-8 * 86_400))
    #expect(backlog.woke(at: start + .seconds(30)) == [.ask(pending(1))])
  }

  @Test("What was kept before the start is given up early only by the provider's clock, otherwise after seven days")
  func recalled() {
    let later = start + .seconds(8 * 86_400)
    for (time, isOver) in [(nil, false), (pending(1).expiresAt - .seconds(1), false), (pending(1).expiresAt, true)] {
      var backlog = RevocationBacklog()
      #expect(backlog.recall([pending(1)], at: later) == [.ask(pending(1))])
      let actions = backlog.ended("1", unanswered, providerTime: time, share: 0, at: later)
      #expect(actions == (isOver ? [.remove(pending(1), unanswered)] : []))
      let end = later + .seconds(7 * 86_400)
      #expect(backlog.woke(at: end) == (isOver ? [] : [.remove(pending(1), unanswered)]))
    }
  }

  @Test("The provider's Retry-After is obeyed")
  func retryAfter() {
    var backlog = RevocationBacklog()
    _ = backlog.failed(pending(1), retryAfter: .seconds(900), share: 0, at: start)
    #expect(backlog.nextWake == start + .seconds(900))
  }

  @Test("When the network is back everything is retried at once, except what is being asked already")
  func network() {
    var backlog = backlog(pending(1))
    _ = backlog.failed(pending(2), retryAfter: nil, share: 0, at: start)
    #expect(backlog.networkReturned(at: start + .seconds(1)) == [.ask(pending(1)), .ask(pending(2))])
    #expect(backlog.networkReturned(at: start + .seconds(2)) == [])
  }

  @Test("A provider that has revoked a grant, or never will, is not asked again")
  func answered() {
    for outcome in [RevocationOutcome.revoked, .refused(message: "HTTP 400.")] {
      var backlog = backlog(pending(1))
      _ = backlog.networkReturned(at: start)
      #expect(backlog.ended("1", outcome, share: 0, at: start) == [.remove(pending(1), outcome)])
      #expect(backlog.isEmpty && backlog.nextWake == nil)
      #expect(backlog.ended("1", outcome, share: 0, at: start) == [], "a late answer means nothing")
    }
  }

  @Test("After seven days it is given up, even if it is held back")
  func expired() {
    let end = start + .seconds(7 * 86_400)
    var tried = backlog(pending(1))
    #expect(tried.woke(at: end) == [.remove(pending(1), unanswered)])
    var held = RevocationBacklog()
    #expect(held.add(pending(1), at: start) == [.ask(pending(1))])
    #expect(held.held("1", share: 1, at: start) == [])
    #expect(held.woke(at: end) == [.remove(pending(1), unanswered)])
  }

  @Test("The answer to a request under way counts even after its time is over")
  func expiredWhileAsked() {
    let end = start + .seconds(7 * 86_400)
    var backlog = backlog(pending(1))
    _ = backlog.networkReturned(at: end - .seconds(1))
    #expect(backlog.woke(at: end) == [])
    #expect(backlog.ended("1", unanswered, share: 0, at: end) == [.remove(pending(1), unanswered)])
  }

  @Test("Revocations that are held back are checked when the signed-in user changes, and from time to time")
  func held() {
    var backlog = RevocationBacklog()
    #expect(backlog.add(pending(1), at: start) == [.ask(pending(1))])
    #expect(backlog.held("1", share: 0, at: start) == [])
    #expect(backlog.nextWake == start + .seconds(30))
    #expect(backlog.woke(at: start + .seconds(30)) == [.ask(pending(1))])
    #expect(backlog.held("1", share: 0, at: start + .seconds(30)) == [])
    #expect(backlog.nextWake == start + .seconds(90))
    #expect(backlog.usersChanged(at: start + .seconds(40)) == [.ask(pending(1))])
    #expect(backlog.ended("1", .revoked, share: 0, at: start + .seconds(41)) == [.remove(pending(1), .revoked)])
    #expect(backlog.held("1", share: 0, at: start) == [], "a late answer means nothing")
  }

  @Test("If users change while it is checked whether one is signed in, that is checked again")
  func outdated() {
    var backlog = RevocationBacklog()
    _ = backlog.add(pending(1), at: start)
    #expect(backlog.usersChanged(at: start) == [])
    #expect(backlog.held("1", share: 0, at: start) == [.ask(pending(1))])
    #expect(backlog.held("1", share: 0, at: start) == [])
    #expect(backlog.nextWake == start + .seconds(30))
  }

  @Test("A provider that does not answer is not asked sooner because somebody signs in or out")
  func unaffected() {
    var backlog = backlog(pending(1))
    #expect(backlog.usersChanged(at: start + .seconds(1)) == [])
    #expect(backlog.nextWake == start + .seconds(30))
  }

  @Test("A pending revocation holds only what it needs, and lasts no longer than the grant itself")
  func note() {
    var credential = Credential.sample(1, issuedAt: start)
    credential.grant.idToken = .sample(7)
    func note() -> PendingRevocation {
      PendingRevocation(of: credential, .sample, id: "1", keeping: .memory, at: start)
    }
    #expect(note().credential.grant.idToken == nil && note().expiresAt == start + .seconds(7 * 86_400))
    credential.grant.refreshExpiresAt = start + .seconds(600)
    #expect(note().expiresAt == start + .seconds(600))
    credential.grant.refreshToken = nil
    #expect(note().expiresAt == start + .seconds(3600), "that of the access token")
  }
}
