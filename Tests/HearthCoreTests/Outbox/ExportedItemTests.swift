import HearthCore
import TestSupport
import Testing

@Suite("An item that was exported") struct ExportedItemTests {
  let now = Sample.start
  let horizon = Duration.seconds(3600)

  func item(
    _ state: OutboxItem.State, _ reason: OutboxItem.Reason? = nil, age: Duration = .zero, unknownFor: Duration? = nil
  ) -> ExportedItem {
    ExportedItem(
      id: OutboxItem.makeID(at: now, random: (1, 2)), subject: Sample.alice, draft: Sample.draft(), state: state,
      reason: reason, attempts: 4, createdAt: now - .seconds(9), unknownSince: unknownFor.map { now - $0 },
      lastStatus: 500, lastError: "no", exportedAt: now - age)
  }

  func progress(_ item: ExportedItem) throws -> ItemProgress { try item.kept(horizon: horizon, at: now).progress }

  @Test(
    "waits to be sent if it did before, with its attempts and its last answer",
    arguments: [OutboxItem.State.pending, .waiting])
  func active(_ state: OutboxItem.State) throws {
    let progress = try progress(item(state, age: .seconds(3599)))
    #expect(progress.state == .pending && progress.attempts == 4 && progress.lastStatus == 500)
    #expect(progress.lastError == "no" && progress.unknownSince == nil)
    #expect(try self.progress(item(.held, .otherUser)).state == .pending)
  }

  @Test("has an unknown result since the export if it was in flight, or if the export is older than the horizon")
  func unknown() throws {
    #expect(try progress(item(.inFlight, age: .seconds(60))).unknownSince == now - .seconds(60))
    #expect(try progress(item(.pending, age: .seconds(3601))).unknownSince == now - .seconds(3601))
    #expect(try progress(item(.pending, unknownFor: .seconds(7))).unknownSince == now - .seconds(7))
    #expect(try progress(item(.inFlight, age: .seconds(-60))).unknownSince == now, "not since a time to come")
  }

  @Test("stays dead or held, and is not sent without asking")
  func ended() throws {
    let dead = try progress(item(.dead, .attemptsExhausted))
    #expect(dead.state == .dead && dead.reason == .attemptsExhausted && dead.finishedAt == now)
    let held = try progress(item(.held, .needsReview, unknownFor: .seconds(7)))
    #expect(held.state == .held && held.reason == .needsReview && held.unknownSince == now - .seconds(7))
  }

  @Test("is refused if its reason does not fit its state")
  func reasons() throws {
    for (state, reason) in [
      (OutboxItem.State.pending, OutboxItem.Reason.otherUser), (.held, .expired), (.dead, .needsReview),
      (.waiting, .rejected),
    ] {
      #expect(throws: Failure.self) { try progress(item(state, reason)) }
    }
    for reason in OutboxItem.Reason.allCases {
      let isOfHeld = (try? progress(item(.held, reason))) != nil
      #expect(isOfHeld != ((try? progress(item(.dead, reason))) != nil))
    }
  }

  @Test("is refused if it was delivered, cancelled or superseded, or if its id is not valid")
  func refused() throws {
    for state in [OutboxItem.State.delivered, .cancelled, .superseded] {
      #expect(throws: Failure.self) { try progress(item(state)) }
    }
    for id in ["", "x\r\ny", "0190ABCD-0000-7000-8000-000000000000", "0190abcd-0000-7000-8000-00000000000"] {
      var item = item(.pending)
      item.id = id
      #expect(throws: Failure.self) { try progress(item) }
    }
  }
}
