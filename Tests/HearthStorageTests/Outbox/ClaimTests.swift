import Glibc
import HearthCore
import TestSupport
import Testing

@testable import HearthStorage

/// Claiming is not sending: claims, their marks, and how they end.
@Suite struct ClaimTests {
  private static let day: Int64 = 24 * 3600

  /// The store as the next process finds it. With another boot id it is as after a power loss.
  private func reopened(_ outbox: StoreFixture, bootID: String? = nil) throws -> StoreFixture {
    let bootID = bootID ?? SentMarks.bootID()
    let store = try SQLiteOutboxStore.open(at: outbox.path, clock: outbox.clock, bootID: bootID).store
    return StoreFixture(folder: outbox.folder, store: store, clock: outbox.clock)
  }

  @Test("Claimed items that had not begun are pending after a crash, even past the horizon, with their lane in order")
  func crashBeforeBegin() async throws {
    try await withStore { outbox in
      try await outbox.add(Sample.draft("/1"), Sample.draft("/2"), Sample.draft("/3"), Sample.draft("/u", lane: nil))
      #expect(try await outbox.claim(follows: true).deliveries.count == 4)
      outbox.now = outbox.now + .seconds(2 * Self.day)
      let next = try reopened(outbox)
      try await next.store.recover()
      let again = try await next.claim(follows: true)
      #expect(again.deliveries.map(\.path) == ["/1", "/2", "/3", "/u"])
      #expect(again.deliveries.allSatisfy { $0.progress.unknownSince == nil })
      #expect(again.changed == [])
    }
  }

  @Test("Only items that had begun need review after a crash past the horizon")
  func crashAfterBegin() async throws {
    try await withStore { outbox in
      try await outbox.add(Sample.draft("/1"), Sample.draft("/2"), Sample.draft("/3"), Sample.draft("/u", lane: nil))
      let taken = try await outbox.claim(follows: true).deliveries
      #expect(taken.filter { $0.path == "/1" || $0.path == "/2" }.allSatisfy(outbox.begin))
      try await outbox.finish(taken[0], .delivered(status: 200))
      outbox.now = outbox.now + .seconds(2 * Self.day)
      let next = try reopened(outbox)
      try await next.store.recover()
      #expect(try await next.store.stats(of: nil).pending == 3)
      let first = try await next.claim(follows: true)
      #expect(first.changed.map(\.url) == ["https://api.example.com/2"])
      #expect(first.changed.map(\.reason) == [.needsReview])
      let paths = first.deliveries.map(\.path) + (try await next.claim(follows: true).deliveries.map(\.path))
      #expect(Set(paths) == ["/3", "/u"])
    }
  }

  @Test("After a crash a result is unknown since the request left, however long before it was claimed")
  func crashAfterSleep() async throws {
    try await withStore { outbox in
      try await outbox.add(Sample.draft("/1"), Sample.draft("/2"))
      let taken = try await outbox.claim(follows: true).deliveries
      #expect(outbox.begin(taken[0]))
      outbox.now = outbox.now + .seconds(2 * Self.day)
      #expect(outbox.begin(taken[1]))
      outbox.now = outbox.now + .seconds(1)
      let next = try reopened(outbox)
      try await next.store.recover()
      let first = try await next.claim(follows: true)
      #expect(first.changed.map(\.url) == ["https://api.example.com/1"])
      #expect(first.changed.map(\.reason) == [.needsReview])
      let again = try await next.claim(follows: true).deliveries
      #expect(again.map(\.path) == ["/2"] && again.map(\.progress.unknownSince) == [next.now - .seconds(1)])
    }
  }

  @Test("After a power loss, or without the file of marks, all claimed items may have been sent")
  func withoutMarks() async throws {
    for loss in ["power", "file"] {
      try await withStore { outbox in
        try await outbox.add(Sample.draft("/1"), Sample.draft("/2"), Sample.draft("/u", lane: nil), Sample.draft("/3"))
        let taken = try await outbox.claim(lanes: 2, follows: true).deliveries
        #expect(taken.map(\.path) == ["/1", "/2", "/u"])
        #expect(outbox.begin(taken[0]))
        if loss == "file" { unlink(OutboxFile(outbox.path).sentMarks) }
        let next = try reopened(outbox, bootID: loss == "power" ? "another" : nil)
        try await next.store.recover()
        let again = try await next.claim(follows: true).deliveries
        let unknown = Dictionary(uniqueKeysWithValues: again.map { ($0.path, $0.progress.unknownSince) })
        #expect(unknown == ["/1": outbox.now, "/2": outbox.now, "/u": outbox.now, "/3": nil], "\(loss)")
        #expect(again.allSatisfy(next.begin))
      }
    }
  }

  @Test("A restart that has not recovered yet claims nothing, so that the marks of the previous process stay")
  func notRecovered() async throws {
    try await withStore { outbox in
      try await outbox.add(Sample.draft("/1"))
      #expect(try await outbox.claim().deliveries.allSatisfy(outbox.begin))
      let next = try reopened(outbox, bootID: "another")
      try await next.add(Sample.draft("/2", lane: "b"))
      #expect(try await next.claim().deliveries.isEmpty)
      try await next.store.recover()
      #expect(try await next.claim().deliveries.map(\.progress.unknownSince) == [outbox.now, nil])
    }
  }

  @Test("A newer item that replaces a claimed one is a commit like any other, and later commits follow in order")
  func replacedWhileClaimed() async throws {
    try await withStore { outbox in
      try await outbox.add(Sample.draft("/1"), Sample.draft("/old", replaceKey: "r"), Sample.draft("/3"))
      try await outbox.add(Sample.draft("/u", lane: nil, replaceKey: "u"))
      let taken = try await outbox.claim(follows: true).deliveries
      #expect(outbox.begin(taken[0]))
      _ = outbox.log.take()
      var ids = try await outbox.add(Sample.draft("/new", replaceKey: "r")).map(\.item.id)
      ids += try await outbox.add(Sample.draft("/new-u", lane: nil, replaceKey: "u")).map(\.item.id)
      for path in ["/4", "/5"] { ids += try await outbox.add(Sample.draft(path)).map(\.item.id) }
      let commits = outbox.log.take()
      #expect(commits.map { [$0].enqueued.map(\.id) } == ids.map { [$0] })
      #expect(commits.changed.map(\.state) == [.superseded, .superseded])
      #expect(commits.map { $0.stats[Sample.work]?.pending } == [3, 3, 4, 5])
      #expect(taken.map(outbox.begin) == [true, false, false, false])
      try outbox.expectSound()
      let next = try await outbox.claim([outbox.settlement(taken[0], .delivered(status: 200))], follows: true)
      #expect(next.deliveries.map(\.path) == ["/new", "/3", "/4", "/5", "/new-u"])
    }
  }

  @Test("A refused call that had replaced a claimed item leaves that item claimed")
  func undoneRevocation() async throws {
    try await withStore { outbox in
      let fixture = outbox
      try await outbox.add(Sample.draft("/other", key: "k", replaceKey: nil))
      let old = try await outbox.add(Sample.draft("/old", lane: "a", replaceKey: "r"))[0].item.id
      let taken = try await outbox.claim(lanes: 2).deliveries
      await #expect(throws: OutboxStoreFailure.keyConflict(at: 1)) {
        try await fixture.add(Sample.draft("/new", lane: "a", replaceKey: "r"), Sample.draft("/no", key: "k"))
      }
      #expect(try await outbox.state(old) == .pending)
      #expect(taken.allSatisfy(outbox.begin))
      let settled = taken.map { outbox.settlement($0, .delivered(status: 200)) }
      #expect(try await outbox.claim(settled).changed.map(\.state) == [.delivered, .delivered])
    }
  }

  @Test("An item that is adopted in flight and has to wait is sent again by its owner, and not overtaken in its lane")
  func adoptedInFlight() async throws {
    try await withStore { outbox in
      let store = outbox.store
      try await outbox.add(Sample.draft("/alice", lane: "b"))
      let ids = try await outbox.add(
        Sample.draft("/1"), Sample.draft("/2"), Sample.draft("/3"), Sample.draft("/u", lane: nil), subject: nil
      ).map(\.item.id)
      let taken = try await outbox.claim(subject: nil, lanes: 2, follows: true).deliveries
      #expect(taken.map(\.path) == ["/1", "/2", "/u"])
      #expect(outbox.begin(taken[0]) && outbox.begin(taken[2]))
      while try await !store.bind(Sample.work, to: Sample.alice, formerly: nil, adopts: true, limit: 1)
        .isDone
      {}
      try outbox.expectSound()
      #expect(try await store.item(ids[0])?.subject == Sample.alice)
      #expect(try await outbox.state(ids[0]) == .inFlight)
      #expect(!outbox.begin(taken[1]))
      #expect(try await outbox.claim(follows: true).deliveries.map(\.path) == ["/alice"])
      for delivery in [taken[0], taken[2]] {
        #expect(try await outbox.finish(delivery, outbox.wait(60)).map(\.state) == [.waiting])
      }
      #expect(try await outbox.claim(follows: true).deliveries.isEmpty)
      outbox.now = outbox.now + .seconds(60)
      #expect(try await outbox.claim(follows: true).deliveries.map(\.path) == ["/1", "/2", "/3", "/u"])
    }
  }

  @Test("An item that is adopted in flight is found after a crash")
  func adoptedAndLost() async throws {
    try await withStore { outbox in
      try await outbox.add(Sample.draft("/alice", lane: "b"))
      try await outbox.add(Sample.draft("/1"), Sample.draft("/2"), subject: nil)
      let taken = try await outbox.claim(subject: nil, follows: true).deliveries
      #expect(outbox.begin(taken[0]))
      _ = try await outbox.store.bind(
        Sample.work, to: Sample.alice, formerly: nil, adopts: true, limit: 9)
      let next = try reopened(outbox)
      try await next.store.recover()
      let again = try await next.claim(follows: true).deliveries
      #expect(again.map(\.path) == ["/alice", "/1", "/2"])
      #expect(again.map(\.progress.unknownSince) == [nil, outbox.now, nil])
    }
  }

  @Test("A refused call for many items costs the others of its group no commit")
  func refusalInGroup() async throws {
    try await withStore { outbox in
      let fixture = outbox
      let store = outbox.store
      try await outbox.add(Sample.draft(body: "a", key: "k"))
      let before = store.commits
      try await outbox.holdingConnection(until: 11) { group in
        for index in 0..<10 {
          group.addTask { try await fixture.add(Sample.draft("/\(index)", lane: nil)) }
          if index == 5 {
            group.addTask {
              await #expect(throws: OutboxStoreFailure.keyConflict(at: 1)) {
                try await fixture.add(Sample.draft("/many"), Sample.draft(body: "b", key: "k"))
              }
            }
          }
        }
      }
      #expect(store.commits - before == 1)
      #expect(try await store.stats(of: nil).pending == 11)
    }
  }

  @Test("The time that an outcome waits to be written counts towards its age; a step of the clock meanwhile does not")
  func slowWriting() async throws {
    try await withStore { outbox in
      try await outbox.add(Sample.draft("/1"))
      let delivery = try await outbox.claim().deliveries[0]
      #expect(outbox.begin(delivery))
      let (fixture, outcome) = (outbox, outbox.wait(60, unknown: true, status: nil))
      try await outbox.holdingConnection(until: 1) { group in
        group.addTask { try await fixture.finish(delivery, outcome) }
      } meanwhile: {
        fixture.clock.advance(by: .seconds(20))
        fixture.clock.step(by: .seconds(3600))
      }
      #expect(try await outbox.claim().claimed.nextDueAt == outbox.now + .seconds(40))
      outbox.now = outbox.now + .seconds(40)
      #expect(try await outbox.claim().deliveries[0].progress.unknownSince == Sample.start + .seconds(3600))
    }
  }

  @Test("A forward step of the clock does not make a result unknown for longer, even after a crash")
  func forwardStep() async throws {
    try await withStore { outbox in
      try await outbox.add(Sample.draft("/waits", lane: "a"), Sample.draft("/sent", lane: "b"))
      let taken = try await outbox.claim().deliveries
      #expect(taken.allSatisfy(outbox.begin))
      try await outbox.finish(taken[0], outbox.wait(1, unknown: true, status: nil))
      let step = Duration.seconds(2 * Self.day)
      outbox.clock.step(by: step)
      _ = try await outbox.claim()
      outbox.now = outbox.now + .seconds(2)
      let next = try reopened(outbox)
      try await next.store.recover()
      let again = try await next.claim()
      #expect(again.changed == [])
      #expect(again.deliveries.map(\.path) == ["/sent", "/waits"])
      #expect(again.deliveries.map(\.progress.unknownSince) == [Sample.start + step, Sample.start + step])
    }
  }

  @Test("A wait lasts as long as planned, even if the clock was set while no process ran", arguments: [-7200, 7200])
  func stepWhileStopped(seconds: Int64) async throws {
    try await withStore { outbox in
      try await outbox.store.recover()
      try await outbox.add(Sample.draft("/1"))
      try await outbox.finish(try await outbox.claim().deliveries[0], outbox.wait(3600))
      await outbox.store.close()
      outbox.now = outbox.now + .seconds(600)
      outbox.clock.step(by: .seconds(seconds))
      let next = try reopened(outbox)
      try await next.store.recover()
      #expect(try await next.claim().claimed.nextDueAt == next.now + .seconds(3000))
    }
  }

  @Test("After another boot it is unknown how the clock was set; only a backward step is certain")
  func stepBeforeBoot() async throws {
    try await withStore { outbox in
      try await outbox.store.recover()
      try await outbox.add(Sample.draft("/1"))
      try await outbox.finish(try await outbox.claim().deliveries[0], outbox.wait(3600))
      await outbox.store.close()
      outbox.clock.step(by: .seconds(600))
      let next = try reopened(outbox, bootID: "another")
      try await next.store.recover()
      #expect(try await next.claim().claimed.nextDueAt == next.now + .seconds(3000))
    }
  }

  @Test("A sign-out also cancels items in flight, and their later outcomes do not count")
  func purgedInFlight() async throws {
    try await withStore { outbox in
      let ids = try await outbox.add(Sample.draft("/1"), Sample.draft("/2"), Sample.draft("/3")).map(\.item.id)
      let taken = try await outbox.claim(follows: true).deliveries
      #expect(outbox.begin(taken[0]))
      #expect(try await outbox.store.purge(Sample.work, of: Sample.alice, limit: 9) == 3)
      #expect(!taken.contains(where: outbox.begin))
      #expect(try await outbox.finish(taken[0], .delivered(status: 200)) == [])
      for id in ids { #expect(try await outbox.state(id) == .cancelled) }
      #expect(try await outbox.store.stats(of: nil).inFlight == 0)
    }
  }

  @Test("Bytes of content and items without a response are claimed up to their limits, and the rest is due soon")
  func limits() async throws {
    try await withStore { outbox in
      for lane in ["a", "b", "c"] { try await outbox.add(Sample.draft("/\(lane)", body: "12345", lane: lane)) }
      let first = try await outbox.claim(bytes: 31)
      #expect(first.deliveries.map(\.path) == ["/a", "/b"])
      #expect(first.claimed.cut == [Sample.origin: .lanes])
      for delivery in first.deliveries {
        try await outbox.finish(delivery, outbox.wait(0, unknown: true, status: nil))
      }
      let second = try await outbox.claim(unanswered: 0)
      #expect(second.deliveries.map(\.path) == ["/c"])
      #expect(second.claimed.cut == [:])
      #expect(second.claimed.nextDueAt == outbox.now + .seconds(1))
      #expect(try await outbox.claim(unanswered: 1).deliveries.map(\.path) == ["/a"])
    }
  }
}
