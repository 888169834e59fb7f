import HearthCore
import TestSupport
import Testing

@Suite("The clock of a stored grant")
struct GrantClockTests {
  private let grant = Credential.sample(1, issuedAt: .sample).grant

  private func clock(
    of grant: Grant, after known: GrantClock? = nil, boot: String = "this", stepped: Duration = .zero,
    at now: Timestamp = .sample
  ) -> GrantClock {
    GrantClock(of: grant, after: known, boot: boot, at: (now, stepped))
  }

  @Test("tells how far the clock has been set since the grant got its times, however often it is read")
  func setSince() {
    let stored = clock(of: grant)
    let read = clock(of: grant, after: stored, stepped: .seconds(-3600), at: .sample - .seconds(3500))
    #expect(read == stored)
    #expect(read.step(to: .seconds(-3600), boot: "this").step == .seconds(-3600))
    #expect(read.step(to: .seconds(-3600), boot: "this").token == Token.sample(1).fingerprint)
  }

  @Test("starts again with other times, with another grant and in another boot")
  func anew() {
    var moved = grant
    moved.move(by: .seconds(-3600))
    let stored = clock(of: grant)
    for (grant, boot) in [(moved, "this"), (Credential.sample(2, issuedAt: .sample).grant, "this"), (grant, "next")] {
      let next = clock(of: grant, after: stored, boot: boot, stepped: .seconds(-30))
      #expect(next.step(to: .seconds(-30), boot: boot).step == .zero)
    }
    #expect(stored.step(to: .seconds(-3600), boot: "next").step == .zero, "unknown in another boot")
  }

  @Test("treats a grant that was issued later than now as expired, in each process of the boot")
  func issuedLater() {
    let behind = Timestamp.sample - .seconds(3600)
    let read = clock(of: grant, stepped: .seconds(-3600), at: behind)
    // From the grant's times to the time at which they were read.
    #expect(read.step(to: .seconds(-3600), boot: "this").step == .seconds(-7200))
    let close = clock(of: grant, stepped: .seconds(-60), at: .sample - .seconds(60))
    // Its lifetime counts from the time at which it was read.
    #expect(close.step(to: .seconds(-60), boot: "this").step == .seconds(-60))
  }
}
