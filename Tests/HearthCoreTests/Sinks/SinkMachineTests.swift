import HearthCore
import TestSupport
import Testing

@Suite("What a sink's file holds") struct SinkMachineTests {
  private let start = Timestamp(rfc3339: "2026-11-21T10:00:00Z")!
  private var machine: SinkMachine

  init() { machine = SinkMachine(at: start) }

  private func content(_ number: Int, issuedAfter: Duration = .zero, lifetime: Duration? = .seconds(3600))
    -> SinkContent
  {
    let credential = Credential.sample(number, issuedAt: start + issuedAfter, lifetime: lifetime)
    return SinkContent(Bearer(credential, of: Sample.work, as: .accessToken, subject: nil))
  }

  private mutating func handle(_ input: SinkMachine.Input, after seconds: Int = 0) -> [SinkMachine.Action] {
    machine.handle(input, at: start + .seconds(seconds))
  }

  /// The file holds token 1.
  private mutating func hold(lifetime: Duration? = .seconds(3600)) {
    _ = handle(.given(.content(content(1, lifetime: lifetime))))
    _ = handle(.put(.success(())))
  }

  @Test("a token is put once, and the next one in its place")
  mutating func tokens() {
    #expect(handle(.configured(.undecided)) == [])
    #expect(handle(.given(.content(content(1)))) == [.put(content(1))])
    #expect(machine.fingerprint == nil, "it is not there yet")
    #expect(handle(.put(.success(()))) == [])
    #expect(machine.fingerprint == content(1).bearer.token.fingerprint)
    #expect(handle(.given(.content(content(1))), after: 1) == [], "the same again")
    #expect(handle(.given(.content(content(2))), after: 2) == [.put(content(2))])
  }

  @Test("a token that comes while one is being put is put after it; a lock meanwhile removes it")
  mutating func oneStepAtATime() {
    #expect(handle(.given(.content(content(1)))) == [.put(content(1))])
    #expect(handle(.given(.content(content(2)))) == [])
    #expect(handle(.put(.success(()))) == [.put(content(2))])
    #expect(handle(.given(.nothing)) == [])
    #expect(handle(.put(.success(()))) == [.remove])
    #expect(handle(.removed(.success(()))) == [] && machine.fingerprint == nil && machine.isIdle)
  }

  @Test("without a token the file goes, and comes back with the next one")
  mutating func nothing() {
    hold()
    #expect(handle(.given(.nothing)) == [.remove])
    #expect(handle(.removed(.success(()))) == [])
    #expect(handle(.given(.nothing)) == [], "it is gone")
    #expect(handle(.given(.content(content(1)))) == [.put(content(1))])
  }

  @Test("what is said of a removal that was not asked for changes nothing")
  mutating func unasked() {
    hold()
    #expect(handle(.removed(.success(()))) == [])
    #expect(machine.fingerprint == content(1).bearer.token.fingerprint)
  }

  @Test("an expired token does not stay, and is not put")
  mutating func expired() {
    hold(lifetime: .seconds(60))
    #expect(machine.nextWake(after: start) == start + .seconds(60))
    #expect(handle(.woke, after: 59) == [])
    #expect(handle(.woke, after: 60) == [.remove])
    #expect(handle(.removed(.success(())), after: 60) == [])
    #expect(machine.nextWake(after: start + .seconds(60)) == nil)
    #expect(handle(.given(.content(content(1, lifetime: .seconds(60)))), after: 61) == [])
  }

  @Test("a token without an expiry stays")
  mutating func everlasting() {
    hold(lifetime: nil)
    #expect(machine.nextWake(after: start) == nil && handle(.woke, after: 1_000_000) == [])
    #expect(machine.fingerprint != nil)
  }

  @Test("what a crash has left stays for two seconds at most, until the session knows")
  mutating func afterCrash() {
    #expect(handle(.configured(.undecided)) == [])
    #expect(machine.nextWake(after: start) == start + .seconds(2))
    #expect(handle(.given(.undecided), after: 1) == [])
    #expect(handle(.woke, after: 2) == [.remove], "a session that still does not know")
    #expect(handle(.removed(.success(())), after: 2) == [])
    #expect(handle(.given(.content(content(1))), after: 9) == [.put(content(1))])
  }

  @Test("what a crash has left is removed at once where the session is locked")
  mutating func afterCrashLocked() {
    _ = handle(.configured(.undecided))
    #expect(handle(.given(.nothing)) == [.remove])
  }

  @Test("a session that is replaced has its file left for as long")
  mutating func replaced() {
    hold()
    #expect(handle(.given(.undecided), after: 10) == [])
    #expect(machine.nextWake(after: start + .seconds(10)) == start + .seconds(12))
    #expect(handle(.given(.content(content(1))), after: 11) == [], "the same token is not written again")
  }

  @Test("a failure is told once, and tried again after 1, 2, 4 … 60 s; another failure is told too")
  mutating func failures() {
    _ = handle(.given(.content(content(1, lifetime: nil))))
    #expect(handle(.put(.failure(.noSpace))) == [.report(.noSpace)] && machine.failure == .noSpace)
    var now = 0
    for wait in [1, 2, 4, 8, 16, 32, 60, 60] {
      #expect(machine.nextWake(after: start + .seconds(now)) == start + .seconds(now + wait))
      #expect(handle(.woke, after: now + wait - 1) == [], "not yet")
      now += wait
      #expect(handle(.woke, after: now) == [.put(content(1, lifetime: nil))])
      #expect(handle(.put(.failure(.noSpace)), after: now) == [])
    }
    #expect(handle(.woke, after: now + 60) == [.put(content(1, lifetime: nil))])
    #expect(handle(.put(.failure(.folderMissing)), after: now + 60) == [.report(.folderMissing)])
    #expect(handle(.given(.content(content(2))), after: now + 61) == [.put(content(2))], "a new token does not wait")
    #expect(handle(.put(.success(())), after: now + 61) == [.recovered] && machine.failure == nil)
  }

  @Test("what cannot be replaced is removed when it expires, and a lock does not wait for a retry")
  mutating func failingAndExpired() {
    hold(lifetime: .seconds(60))
    _ = handle(.given(.content(content(2))), after: 50)
    _ = handle(.put(.failure(.noSpace)), after: 50)
    _ = handle(.woke, after: 59)
    #expect(handle(.put(.failure(.noSpace)), after: 59) == [])
    #expect(handle(.woke, after: 60) == [.remove])
    #expect(handle(.removed(.success(())), after: 60) == [] && machine.failure == .noSpace, "it is still amiss")
    #expect(handle(.woke, after: 61) == [.put(content(2))])
    #expect(handle(.put(.failure(.noSpace)), after: 61) == [])

    hold()
    _ = handle(.given(.content(content(3))), after: 70)
    _ = handle(.put(.failure(.denied)), after: 70)
    #expect(handle(.given(.nothing), after: 70) == [.remove])
    #expect(handle(.removed(.failure(.denied)), after: 70) == [.report(.denied)])
    #expect(handle(.woke, after: 70) == [], "a removal that fails waits too")
    #expect(handle(.woke, after: 71) == [.remove])
    #expect(handle(.removed(.success(())), after: 71) == [.recovered] && machine.failure == nil)
  }

  @Test("a file that was put too late to be waited for is removed where none is wanted")
  mutating func unanswered() {
    _ = handle(.given(.nothing))
    _ = handle(.removed(.success(())))
    _ = handle(.given(.content(content(1))))
    _ = handle(.put(.failure(.unanswered(.seconds(5)))))
    #expect(handle(.given(.nothing)) == [.remove])
  }

  @Test("reading the configuration makes the file anew, also while one is being put")
  mutating func configured() {
    hold()
    let same = SinkMachine.Offer.content(content(1))
    #expect(handle(.configured(same)) == [.put(content(1))])
    #expect(handle(.configured(same)) == [])
    #expect(handle(.put(.success(()))) == [.put(content(1))], "with the settings of now")
    #expect(handle(.put(.success(()))) == [])
  }

  @Test("a sink that is not configured any more has no file, and is over then; unless it is configured again")
  mutating func retired() {
    hold()
    #expect(handle(.retired) == [.remove] && !machine.isOver)
    #expect(handle(.given(.content(content(2)))) == [])
    #expect(handle(.removed(.success(()))) == [] && machine.isOver)
    #expect(handle(.configured(.content(content(2)))) == [.put(content(2))] && !machine.isOver)
  }

  @Test("the waits move with the clock, and late answers change nothing")
  mutating func clock() {
    machine.move(by: .seconds(3600))
    #expect(machine.nextWake(after: start) == start + .seconds(3602))
    #expect(handle(.put(.success(()))) == [] && handle(.removed(.success(()))) == [] && machine.fingerprint == nil)
  }
}
