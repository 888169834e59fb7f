import HearthCore
import TestSupport
import Testing

@Suite("A session and its locks")
struct LockTests {
  private let grant = Credential.sample(1, issuedAt: .sample)

  @Test("locks at once and wipes grant and key", arguments: Lock.allCases)
  func wipes(lock: Lock) {
    var session = SessionScript.holding()
    session.take(.locked(lock))
    #expect(session.state == .locked(.explicit(lock)))
    #expect(session.machine.credentialState == .notHeld(.locked))
    #expect(session.effects.contains(.lockStore))
    #expect(session.token == nil)
    #expect(session.snapshot.subject == .sample)
    #expect(session.nextWake == nil)
  }

  @Test("obeys the locks that its settings name, and always the user's own")
  func obeys() {
    #expect(SessionSettings().locks == [.user])
    var session = SessionScript.holding(grant, SessionSettings(locks: [.user, .suspend]))
    session.take(.locked(.screen))
    #expect(session.state == .authenticated)
    session.take(.locked(.suspend))
    #expect(session.state == .locked(.explicit(.suspend)))
  }

  @Test("reads the credential again on unlock, without asking the provider")
  func unlocks() {
    var session = SessionScript.holding()
    session.take(.locked(.screen))
    session.take(.unlocked(.screen))
    #expect(session.effects == [.read])
    session.reads(.found(grant))
    #expect(session.state == .authenticated)
    #expect(session.machine.epoch.generation == 0)
    #expect(session.attempts.isEmpty)
  }

  @Test("does not write over other times that another program has given the same tokens during the lock")
  func timesOnDiskAreOther() {
    var other = grant
    other.grant.expiresAt = .sample + .seconds(7200)
    var session = SessionScript.holding()
    session.take(.locked(.screen))
    session.take(.unlocked(.screen))
    session.reads(.found(other))
    #expect(session.effects.isEmpty && !session.snapshot.isWritePending)
    #expect(session.snapshot.token?.expiresAt == grant.grant.expiresAt, "the times in memory stay in use")
  }

  @Test("is unlocked only when every lock is removed; the user's unlock removes only the user's")
  func isASet() {
    var session = SessionScript.holding()
    session.take(.locked(.user))
    session.take(.locked(.screen))
    session.take(.locked(.suspend))
    session.take(.unlocked(.user))
    #expect(session.state == .locked(.explicit(.screen)))
    session.take(.unlocked(.screen))
    #expect(session.state == .locked(.explicit(.suspend)))
    session.take(.unlocked(.screen))
    session.take(.unlocked(.suspend))
    #expect(session.effects == [.read])
  }

  @Test("remembers only the user's lock across restarts")
  func remembers() {
    var session = SessionScript.holding()
    session.take(.locked(.user))
    #expect(session.effects.contains(.rememberLockedByUser(true)))
    session.take(.locked(.user))
    #expect(session.effects.isEmpty)
    session.take(.unlocked(.user))
    #expect(session.effects.contains(.rememberLockedByUser(false)))
    session.take(.locked(.screen))
    #expect(!session.effects.contains(.rememberLockedByUser(true)))

    var restarted = SessionScript(remembered: RememberedAccount(subject: .sample, lockedByUser: true))
    #expect(restarted.state == .locked(.explicit(.user)))
    restarted.reads(.found(grant))
    #expect(restarted.machine.credentialState == .notHeld(.locked))
    #expect(restarted.effects == [.lockStore])
  }

  @Test("reads no credential before it knows whether the user has locked the account", arguments: [true, false])
  func asksWhetherItIsLocked(lockedByUser: Bool) {
    var session = SessionScript(remembered: nil)
    #expect(session.state == .locked(.accessFailure(.denied)))
    #expect(session.answer(asking: .awaitReading) == .done)
    session.take(.credentialHinted)
    #expect(session.effects == [.recall])
    session.reads(.unreadable(.denied))
    session.wakes()
    #expect(session.effects == [.recall])
    session.take(.started(RememberedAccount(subject: .sample, lockedByUser: lockedByUser)))
    #expect(session.effects == [.read])
    session.reads(.found(grant))
    #expect(session.state == (lockedByUser ? .locked(.explicit(.user)) : .authenticated))
    #expect(session.snapshot.subject == .sample)
  }

  @Test("does not return to a lock that was removed before it was known")
  func unlockedBeforeItIsKnown() {
    var session = SessionScript(remembered: nil)
    session.take(.unlocked(.user))
    #expect(session.effects == [.rememberLockedByUser(false), .recall])
    session.notesLock(.full)
    session.take(.started(RememberedAccount(lockedByUser: true)))
    session.reads(.found(grant))
    #expect(session.state == .authenticated)
  }

  @Test("keeps a lock that becomes known after a sign-out")
  func signedOutBeforeItIsKnown() {
    var session = SessionScript(remembered: nil)
    session.asks(.signOut(revoke: false))
    session.removes()
    #expect(session.effects.contains(.recall))
    session.reads(.unreadable(.denied))
    session.wakes()
    #expect(session.effects == [.recall], "a while later, and until it is heard of")
    session.take(.started(RememberedAccount(lockedByUser: true)))
    #expect(session.machine.locks.all == [.user])
    #expect(session.state == .unauthenticated(signedOut: true))
  }

  @Test(
    "requests no grant for the client before it knows whether the user has locked the account",
    arguments: [true, false])
  func clientAsksBeforeItIsKnown(lockedByUser: Bool) {
    var session = SessionScript(
      SessionSettings(locks: Set(Lock.allCases), renewsWithoutRefreshToken: true), remembered: nil)
    session.asks(.signOut(revoke: false))
    session.removes()
    session.reads(.unreadable(.denied))
    session.asks(.requestGrant)
    session.wakes()
    #expect(session.effects == [.recall])
    session.take(.started(RememberedAccount(lockedByUser: lockedByUser)))
    #expect(session.effects.contains(.requestGrant(generation: 2)) == !lockedByUser)
  }

  @Test("publishes an end that could not be remembered at the start once it can be")
  func remembersTheEndLater() {
    let end = EndRecord(reason: .rejectedByServer, at: .sample, fingerprint: nil)
    var session = SessionScript(remembered: nil)
    session.wakes()
    session.take(.started(RememberedAccount(end: end)))
    #expect(session.state == .reauthRequired(.rejectedByServer))
    #expect(
      session.events.contains(
        .changed(from: .locked(.accessFailure(.denied)), to: .reauthRequired(.rejectedByServer))))
  }

  @Test("writes a lock again until that succeeds, within 30 s each time, even if an unlock comes meanwhile")
  func remembersAgain() {
    var session = SessionScript.holding()
    session.take(.locked(.user))
    session.notesLock(.full)
    #expect(session.snapshot.credentialError == AccessFailure.full.detail)
    for _ in 0..<20 {
      let before = session.now
      session.wakes()
      #expect(session.now - before <= .seconds(30))
      #expect(session.effects == [.rememberLockedByUser(true)])
      session.notesLock(.full)
    }
    session.take(.unlocked(.user))
    #expect(session.effects.contains(.rememberLockedByUser(false)))
    session.notesLock()
    #expect(session.snapshot.credentialError == nil)
    session.passes(.seconds(100))
    #expect(!session.effects.contains(.rememberLockedByUser(true)))
  }

  @Test("writes a lock once more when the process stops, and is at rest only after that")
  func remembersAtTheEnd() {
    var session = SessionScript.holding()
    session.take(.locked(.user))
    #expect(!session.machine.isAtRest)
    session.notesLock(.full)
    #expect(session.machine.isAtRest)
    session.take(.stopping)
    #expect(session.effects == [.rememberLockedByUser(true)])
    #expect(!session.machine.isAtRest)
    session.notesLock()
    #expect(session.machine.isAtRest)
  }

  @Test("shows an end before a lock, and a lock before hydrating")
  func precedence() {
    var session = SessionScript()
    session.take(.locked(.user))
    #expect(session.state == .locked(.explicit(.user)))
    session.reads(.neverSignedIn)
    #expect(session.state == .unauthenticated(signedOut: false))

    let end = EndRecord(reason: .rejectedByServer, at: .sample, fingerprint: nil)
    let ended = SessionScript(remembered: RememberedAccount(lockedByUser: true, end: end))
    #expect(ended.state == .reauthRequired(.rejectedByServer))

    var unreadable = SessionScript()
    unreadable.reads(.unreadable(.denied))
    unreadable.take(.locked(.suspend))
    #expect(unreadable.state == .locked(.explicit(.suspend)))
  }

  @Test("lets a refresh in flight finish and be stored before it wipes")
  func landsFirst() {
    var session = SessionScript.holding()
    session.asks(.refresh)
    session.take(.locked(.user))
    #expect(session.state == .locked(.explicit(.user)))
    #expect(!session.effects.contains(.lockStore))
    session.isGranted(.sample(2))
    #expect(session.effects.count == 1)
    session.writes()
    #expect(session.machine.credentialState == .notHeld(.locked))
    #expect(session.effects == [.lockStore])
    session.take(.unlocked(.user))
    session.reads(.found(.sample(2, issuedAt: session.now)))
    #expect(session.token == .sample(2))
  }

  @Test("keeps the only copy of a grant in memory under a lock until it is written, without showing it")
  func keepsTheOnlyCopy() {
    var session = SessionScript.holding()
    session.asks(.refresh)
    session.take(.locked(.user))
    session.isGranted(.sample(2))
    session.writes(.full)
    #expect(session.state == .locked(.explicit(.user)))
    #expect(session.token == nil)
    #expect(session.effects.isEmpty)
    for _ in 0..<20 {
      session.wakes()
      guard case .write(let credential, _)? = session.effects.first else {
        Issue.record("nothing was written")
        return
      }
      #expect(credential.grant.refreshToken == .sample(1002))
      session.writes(.full)
    }
    session.wakes()
    session.writes()
    #expect(session.effects == [.lockStore])
  }

  @Test("lets a grant that nothing renews expire under a lock, and ends its session only after the unlock")
  func runsOutUnderALock() {
    var session = SessionScript()
    session.reads(.neverSignedIn)
    session.imports(.sample(1, issuedAt: .sample, isRenewable: false))
    session.writes(.full)
    session.take(.locked(.screen))
    session.passes(.seconds(3600))
    #expect(session.state == .locked(.explicit(.screen)))
    #expect(!session.effects.contains { if case .writeEnd = $0 { true } else { false } })
    session.take(.unlocked(.screen))
    session.writes(.full)
    session.writesEnd()
    #expect(session.state == .reauthRequired(.noRefreshToken))
  }

  @Test("wipes the key even if no grant is in memory, and after each read under a lock")
  func wipesTheKey() {
    var session = SessionScript()
    session.reads(.unreadable(.full))
    session.take(.locked(.screen))
    #expect(session.effects == [.lockStore])
    session.wakes()
    #expect(session.effects == [.read])
    session.reads(.found(grant))
    #expect(session.machine.credentialState == .notHeld(.locked))
    #expect(session.effects == [.lockStore])
  }

  @Test("asks for the passphrase again after a lock, and reads as soon as it is given")
  func passphrase() {
    var session = SessionScript.holding()
    session.take(.locked(.user))
    session.take(.unlocked(.user))
    session.reads(.unreadable(.sealed))
    #expect(session.state == .locked(.accessFailure(.sealed)))
    #expect(session.snapshot.action == .unlock)
    session.take(.unlocked(.user))
    #expect(session.effects == [.read])
    session.reads(.found(grant))
    #expect(session.state == .authenticated)
  }

  @Test("takes only the user's unlock for a new passphrase")
  func screenHasNoPassphrase() {
    var session = SessionScript(.obeyingEveryLock)
    session.reads(.unreadable(.sealed))
    session.take(.locked(.screen))
    session.take(.unlocked(.screen))
    #expect(!session.effects.contains(.read))
    session.take(.unlocked(.user))
    #expect(session.effects == [.read])

    var settings = SessionSettings.obeyingEveryLock
    settings.refresh.backoffInitial = .seconds(300)
    session = .holding(grant, settings)
    session.passes(.seconds(3400))
    session.ends(.notAsked(.sealed))
    session.reads(.found(grant))
    for (lock, attempts) in [(Lock.screen, 1), (.user, 2)] {
      session.take(.unlocked(lock))
      session.passes(RefreshSettings.leastGap)
      #expect(session.attempts.count == attempts)
    }
  }

  @Test("sends nothing while locked, and refreshes at unlock what has expired")
  func refreshesAtUnlock() {
    var session = SessionScript.holding()
    session.take(.locked(.screen))
    session.passes(.seconds(7200))
    #expect(session.attempts.isEmpty)
    session.take(.unlocked(.screen))
    session.reads(.found(grant))
    #expect(session.attempts.count == 1)
    #expect(session.state == .authenticated)
  }

  @Test("does not shorten a wait by locking and unlocking")
  func keepsTheWait() {
    var session = SessionScript.holding()
    session.passes(.seconds(3400))
    session.fails(.unavailable(message: "429", retryAfter: .seconds(600)))
    session.take(.locked(.suspend))
    #expect(session.machine.credentialState == .notHeld(.locked))
    session.passes(.seconds(30))
    session.take(.unlocked(.suspend))
    session.reads(.found(grant))
    #expect(session.attempts.count == 1)
    #expect(session.snapshot.history.failures == 1)
    session.passes(.seconds(569))
    #expect(session.attempts.count == 1)
    session.passes(.seconds(1))
    #expect(session.attempts.count == 2)
  }

  @Test("rejects calls at once while locked, and says why")
  func refusesCalls() {
    var session = SessionScript.holding()
    session.take(.locked(.user))
    let answer = session.rejection(in: .locked(.explicit(.user)))
    #expect(session.answer(asking: .token(minValidity: nil)) == answer)
    #expect(session.answer(asking: .refresh) == answer)
    #expect(session.answer(asking: .awaitReading) == .done)
  }

  @Test("is reported without a session, too, whose state does not show it")
  func withoutSession() {
    var session = SessionScript()
    session.reads(.neverSignedIn)
    #expect(!session.snapshot.isLocked)
    session.take(.locked(.user))
    #expect(session.snapshot.isLocked && session.state == .unauthenticated(signedOut: false))
  }
}
