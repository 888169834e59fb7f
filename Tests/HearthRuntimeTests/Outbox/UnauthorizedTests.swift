import HearthCore
import TestSupport
import Testing

@testable import HearthRuntime

@Suite(.timeLimit(.minutes(2))) struct UnauthorizedTests {
  private func print(_ generation: Int) -> Fingerprint { ScriptedBearerSource.token(generation).fingerprint }

  @Test("401 to an old token: sent again with the current one, and nothing is refreshed")
  func oldToken() async throws {
    try await withService { outbox in
      await outbox.signIn()
      let id = try await outbox.add(Sample.draft())[0]
      let call = await outbox.api.nextCall()
      outbox.bearers.renew()
      call.answer(401)
      let again = await outbox.api.nextCall()
      #expect(again.fingerprint == print(2))
      again.answer(200)
      await outbox.delivered(id)
      #expect(outbox.bearers.refused.isEmpty)
      #expect(try await outbox.service.get(id).attempts == 1)
    }
  }

  @Test("401 to the current token: one refresh, one retry")
  func refreshed() async throws {
    let first = print(1)
    try await withService({ _, fingerprint in .success(APIAnswer(status: fingerprint == first ? 401 : 200)) }) {
      outbox in
      let id = try await outbox.add(Sample.draft())[0]
      await outbox.signIn()
      await outbox.delivered(id)
      #expect(outbox.bearers.refused == [first])
      #expect(outbox.api.log.map(\.fingerprint) == [first, print(2)])
    }
  }

  @Test("401 again with the new token ends the session; every item keeps its place, uncharged")
  func sessionEnds() async throws {
    try await withService({ _, _ in .success(APIAnswer(status: 401)) }, refusals: 1) { outbox in
      let ids = try await outbox.add(Sample.draft("/1"), Sample.draft("/2"), Sample.draft("/u", lane: nil))
      await outbox.signIn()
      await outbox.clock.waitForSleeper(until: outbox.clock.now() + .milliseconds(500))
      #expect(outbox.bearers.refused.contains(print(2)))
      await outbox.block("reauthRequired")
      await outbox.told.first { $0 == .paused(Sample.work, reason: "reauthRequired") }
      for id in ids {
        let item = try await outbox.service.get(id)
        #expect(item.state == .pending)
        #expect(item.attempts == 0)
      }
      outbox.api.setRule(answers200)
      outbox.bearers.set(failure: nil)
      await outbox.signIn()
      for id in ids { await outbox.delivered(id) }
    }
  }

  @Test("Where others are let in with that same token, the item alone is dead")
  func itemAlone() async throws {
    try await withService(
      { request, _ in
        .success(APIAnswer(status: request.url.target == "/forbidden" ? 401 : 200))
      }, refusals: 1
    ) { outbox in
      var ids = try await outbox.add(Sample.draft("/forbidden", lane: nil))
      for index in 0..<40 { ids += try await outbox.add(Sample.draft("/\(index)", lane: nil)) }
      await outbox.signIn()
      let item = try #require(await outbox.dead(ids[0]))
      #expect(item.reason == .rejected)
      #expect(item.lastStatus == 401)
      for id in ids.dropFirst() { await outbox.delivered(id) }
    }
  }

  @Test("An item that is refused with a new token waits for what the others are told, and they decide")
  func othersDecide() async throws {
    try await withService(refusals: 1) { outbox in
      let ids = try await outbox.add(Sample.draft("/bad", lane: "a"), Sample.draft("/good", lane: "b"))
      await outbox.signIn()
      var calls = [await outbox.api.nextCall(), await outbox.api.nextCall()]
      calls.sort { $0.request.url.target < $1.request.url.target }
      calls[0].answer(401)
      let second = await outbox.api.nextCall()
      #expect(second.fingerprint == print(2))
      second.answer(401)
      calls[1].answer(401)
      let good = await outbox.api.nextCall()
      #expect(good.request.url.target == "/good")
      #expect(good.fingerprint == print(2))
      good.answer(200)
      await outbox.delivered(ids[1])
      #expect(await outbox.dead(ids[0])?.reason == .rejected)
      #expect(outbox.bearers.refused == [print(1)])
    }
  }

  @Test("No refresh to be had: back to pending, uncharged, and tried again later")
  func refreshUnavailable() async throws {
    try await withService { outbox in
      await outbox.signIn()
      let id = try await outbox.add(Sample.draft())[0]
      let call = await outbox.api.nextCall()
      outbox.bearers.set(failure: .unavailable(message: "no network", retryAfter: .seconds(7)))
      call.answer(401)
      await outbox.idle(until: outbox.clock.now() + .seconds(7))
      let item = try await outbox.service.get(id)
      #expect(item.state == .pending)
      #expect(item.attempts == 0)
      outbox.bearers.set(failure: nil)
      outbox.clock.advance(by: .seconds(7))
      await outbox.api.nextCall().answer(200)
      await outbox.delivered(id)
    }
  }

  @Test("A token of another subject than the session's carries nothing")
  func otherSubjectsToken() async throws {
    try await withService(answers200) { outbox in
      let id = try await outbox.add(Sample.draft())[0]
      await outbox.signIn(Sample.alice)
      await outbox.delivered(id)
      outbox.bearers.set(subject: Sample.bob)
      let second = try await outbox.add(Sample.draft("/2"))[0]
      await outbox.idle(until: outbox.clock.now() + .milliseconds(500))
      #expect(outbox.api.log.count == 1)
      #expect(try await outbox.service.get(second).state == .pending)
    }
  }
}
