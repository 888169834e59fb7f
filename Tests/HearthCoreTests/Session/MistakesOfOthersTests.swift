import HearthCore
import TestSupport
import Testing

@Suite("Mistakes of other programs")
struct MistakesOfOthersTests {
  /// Everything that removes something from the disk, or puts something else there.
  private func destroys(_ session: SessionScript) -> Bool {
    session.effects.contains { effect in
      switch effect {
      case .write, .writeEnd, .remove, .setAside: true
      case .recall, .read, .refresh, .requestGrant, .askTime, .identify, .rememberLockedByUser, .remember,
        .lockStore, .replaceStore, .makeRoom, .obtain, .beginSignIn, .showSignIn, .complete, .revoke, .revokeAtOnce,
        .answer, .publish:
        false
      }
    }
  }

  @Test(
    "A network error deletes the credential: here it deletes nothing and ends nothing",
    arguments: [
      RefreshFailure.unavailable(message: "no route", retryAfter: nil), .unavailable(message: "500", retryAfter: nil),
      .unavailable(message: "429", retryAfter: .seconds(9)), .unanswered(message: "reset"),
      .misconfigured(message: "invalid_client"),
    ])
  func networkError(failure: RefreshFailure) {
    var session = SessionScript.holding()
    for _ in 0..<100 {
      session.comesDue()
      session.fails(failure)
      #expect(!destroys(session))
      if session.snapshot.isRefreshing { session.fails(failure) }
      #expect(!destroys(session))
      #expect(session.state == .authenticated)
    }
    session.comesDue()
    session.isGranted(.sample(2))
    session.writes()
    #expect(session.token == .sample(2))
  }

  @Test("A read error deletes the credential: here it deletes nothing, whether a grant is held or not")
  func readError() {
    for kind in AccessFailure.Kind.allCases {
      for var session in [SessionScript(), .holding()] {
        session.isHinted(.unreadable(AccessFailure(kind, detail: "why")))
        session.reads(.unreadable(AccessFailure(kind, detail: "why")))
        #expect(!destroys(session))
        session.passes(.seconds(100_000))
        #expect(!destroys(session))
        #expect(session.state.name == "locked")
      }
    }
  }

  @Test("A revoked token is left in a refresh loop: here it is sent once, and its end survives a restart")
  func refreshLoop() {
    var session = SessionScript.holding()
    session.comesDue()
    session.fails(.rejected(.refreshToken, message: "invalid_grant"))
    session.reads(.found(.sample(1, issuedAt: .sample)))
    guard case .writeEnd(let end)? = session.effects.first else {
      Issue.record("no end is written")
      return
    }
    session.writesEnd()
    for event in [SessionInput.networkReturned, .clockChanged(by: .zero), .woke, .configured(.obeyingEveryLock)] {
      session.take(event)
    }
    session.asks(.refresh)
    session.passes(.seconds(1_000_000))
    #expect(session.attempts.count == 1)
    var restarted = SessionScript(remembered: RememberedAccount(end: end))
    restarted.reads(.found(.sample(1, issuedAt: .sample)))
    restarted.writesEnd()
    restarted.passes(.seconds(1_000_000))
    #expect(restarted.attempts.isEmpty)
    #expect(restarted.state == .reauthRequired(.refreshTokenRejected))
  }

  @Test("A locked place is read as a missing file: here it is locked, and recovers by itself")
  func lockedAsMissing() {
    var session = SessionScript()
    session.reads(.unreadable(.away))
    #expect(session.state.route == .locked)
    #expect(session.state.action == .wait)
    session.wakes()
    session.reads(.found(.sample(1, issuedAt: .sample)))
    #expect(session.state.route == .main)
  }

  @Test("Delete before add: here the old grant is replaced in one write, and nothing is removed first")
  func deleteBeforeAdd() {
    var session = SessionScript.holding()
    session.comesDue()
    session.isGranted(.sample(2))
    #expect(session.effects == [.write(.sample(2, issuedAt: session.now), generation: 0)])
    session.writes()
    session.imports(.sample(5, issuedAt: session.now))
    #expect(session.effects == [.write(.sample(5, issuedAt: session.now), generation: 1)])
  }

  @Test("A save is reported although nothing was written: here the status says that it still has to be written")
  func falseSave() {
    var session = SessionScript.holding()
    session.comesDue()
    session.isGranted(.sample(2))
    session.writes(.full)
    #expect(session.snapshot.isWritePending)
    #expect(session.events.contains(.credentialPendingWrite(.full)))
  }

  @Test("A logout leaves the file: here it is removed, or its removal is recorded and repeated")
  func logoutLeavesTheFile() {
    var session = SessionScript.holding()
    session.asks(.signOut(revoke: true))
    #expect(session.effects.contains { if case .remove = $0 { true } else { false } })
    session.removes(.away)
    #expect(session.nextWake != nil)
    session.wakes()
    #expect(session.effects == [.read])
  }

  @Test("A rotated token is lost between the answer and the disk: here it is kept until it is written")
  func droppedRotation() {
    var session = SessionScript.holding()
    session.comesDue()
    session.take(.locked(.user))
    session.isGranted(.sample(2))
    session.take(.credentialHinted)
    session.writes(.full)
    session.reads(.unreadable(.denied))
    session.take(.locked(.suspend))
    session.passes(.seconds(10_000))
    #expect(session.effects == [.read])
    session.reads(.found(.sample(1, issuedAt: .sample)))
    guard case .write(let credential, _)? = session.effects.first else {
      Issue.record("the rotated grant is gone")
      return
    }
    #expect(credential.grant.refreshToken == .sample(1002))
  }

  @Test("Expiry is hard-coded: here it is what the provider says, from two seconds to years", arguments: [2, 60, 1e8])
  func hardCodedExpiry(seconds: Double) throws {
    var session = SessionScript.holding()
    session.asks(.refresh)
    session.isGranted(.sample(2, lifetime: .seconds(seconds)))
    session.writes()
    let life = try #require(session.snapshot.token)
    #expect(life.expiresAt == session.now + .seconds(seconds))
    let due = try #require(life.refreshAt)
    #expect(due < session.now + .seconds(seconds) && due > session.now)
  }

  @Test("Retries stop forever: here the next one is always planned, however many failed and for how long")
  func stopsRetrying() {
    var session = SessionScript.holding()
    for count in 0..<300 {
      session.comesDue()
      #expect(session.attempts.count == count + 1)
      session.fails(.unavailable(message: "503", retryAfter: nil))
      #expect(session.nextWake != nil)
    }
  }

  @Test(
    "A newer grant is overwritten by the end of an older one: here it wins, even if it is readable only for a moment")
  func newerGrantOverwritten() {
    var session = SessionScript.holding()
    session.asks(.refresh)
    session.fails(.rejected(.refreshToken, message: "invalid_grant"))
    session.take(.credentialHinted)
    session.reads(.found(.sample(7, issuedAt: .sample)))
    session.reads(.unreadable(.denied))
    #expect(!destroys(session))
    #expect(session.state == .authenticated)
    #expect(session.token == .sample(7))
  }

  @Test("A newer grant is overwritten because the old one expires while it is read: here the read comes first")
  func newerGrantRead() {
    var session = SessionScript.holding(.sample(1, issuedAt: .sample, isRenewable: false))
    session.take(.credentialHinted)
    session.passes(.seconds(3601))
    #expect(!destroys(session))
    session.reads(.found(.sample(7, issuedAt: session.now)))
    #expect(!destroys(session))
    #expect(session.state == .authenticated)
    #expect(session.token == .sample(7))
  }
}
