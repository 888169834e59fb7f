import HearthCore
import Synchronization
import TestSupport
import Testing

@testable import HearthRuntime

@Suite(.timeLimit(.minutes(2))) struct UnauthorizedTests {
  private func print(_ generation: Int) -> Fingerprint { ScriptedBearerTokenProvider.token(generation).fingerprint }

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
    try await withService({ _, fingerprint in .success(APIResponse(status: fingerprint == first ? 401 : 200)) }) {
      outbox in
      let id = try await outbox.add(Sample.draft())[0]
      await outbox.signIn()
      await outbox.delivered(id)
      #expect(outbox.bearers.refused == [first])
      #expect(outbox.api.log.map(\.fingerprint) == [first, print(2)])
    }
  }

  @Test("A 401 soon after another is the first one of its item: refreshed and sent again, for others were let in")
  func refreshedAgain() async throws {
    let refused = RefusedTokens(print(1))
    try await withService({ _, fingerprint in
      .success(APIResponse(status: refused.contains(fingerprint) ? 401 : 200))
    }) { outbox in
      await outbox.signIn()
      await outbox.delivered(try await outbox.add(Sample.draft("/1"))[0])
      refused.add(print(2))
      await outbox.delivered(try await outbox.add(Sample.draft("/2"))[0])
      #expect(
        outbox.bearers.refusals == [
          APIRejection(print(1), at: try HTTPURL("\(Sample.origin)/1")),
          APIRejection(print(2), at: try HTTPURL("\(Sample.origin)/2"), isAcceptedElsewhere: true),
        ])
    }
  }

  @Test("401 again with the new token ends the session; every item keeps its place, uncharged")
  func sessionEnds() async throws {
    try await withService({ _, _ in .success(APIResponse(status: 401)) }, refusals: 1) { outbox in
      let ids = try await outbox.add(Sample.draft("/1"), Sample.draft("/2"), Sample.draft("/u", lane: nil))
      await outbox.signIn()
      await outbox.clock.waitForSleeper(until: outbox.clock.now() + .seconds(1))
      #expect(outbox.bearers.refused.contains(print(2)))
      await outbox.block("reauthRequired")
      await outbox.published.first { $0 == .paused(Sample.work, reason: "reauthRequired") }
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
        .success(APIResponse(status: request.url.target == "/forbidden" ? 401 : 200))
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

  @Test(
    "An answer that asks for more than a fresh token is about the item alone: nothing is refreshed for it",
    arguments: [
      (401, #"Bearer error="insufficient_user_authentication""#), (401, #"Bearer claims="e30""#),
      (403, #"Bearer error="insufficient_scope""#),
    ])
  func challenged(_ status: Int, _ field: String) async throws {
    let demand = APIResponse(status: status, headers: [.init(name: "WWW-Authenticate", value: field)])
    try await withService({ request, _ in
      .success(request.url.target == "/more" ? demand : APIResponse(status: 200))
    }) { outbox in
      let ids = try await outbox.add(Sample.draft("/more", lane: "a"), Sample.draft("/good", lane: "b"))
      await outbox.signIn()
      await outbox.delivered(ids[1])
      await outbox.published.first { if case .held(let item) = $0 { item.id == ids[0] } else { false } }
      let item = try await outbox.service.get(ids[0])
      #expect(item.state == .held && item.reason == .needsStepUp && item.attempts == 0)
      #expect(item.lastStatus == status && item.lastError?.contains("https://api.example.com requires") == true)
      #expect(outbox.bearers.refused.isEmpty)
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

  @Test("A refused token that cannot be replaced is sent ever more seldom; another one is sent at once")
  func refusedAndUnavailable() async throws {
    let bad = print(1)
    try await withService({ _, fingerprint in .success(APIResponse(status: fingerprint == bad ? 401 : 200)) }) {
      outbox in
      outbox.bearers.set(refusal: .unavailable(message: "no network", retryAfter: nil))
      let id = try await outbox.add(Sample.draft("/1"))[0]
      await outbox.signIn()
      var sent = 0
      for wait in [1, 2, 4, 8, 16, 32, 64, 128, 150, 150] {
        await outbox.idle(until: outbox.clock.now() + .seconds(wait))
        sent += 1
        #expect(outbox.api.log.count == sent)
        // What each failed refresh tells of the session is no reason to try again.
        await outbox.signIn()
        outbox.clock.advance(by: .seconds(wait))
      }
      await outbox.idle(until: outbox.clock.now() + .seconds(150))
      #expect(try await outbox.service.getStats(Sample.work).pausedReason == "refreshUnavailable")
      #expect(try await outbox.service.get(id).state == .pending)
      #expect(try await outbox.service.get(id).attempts == 0)
      outbox.bearers.renew()
      await outbox.signIn()
      await outbox.delivered(id)
      await outbox.published.first { $0 == .resumed(Sample.work, reason: "refreshUnavailable") }
      #expect(outbox.published.all.count { $0 == .paused(Sample.work, reason: "refreshUnavailable") } == 1)
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
      await outbox.idle(until: outbox.clock.now() + .seconds(1))
      #expect(outbox.api.log.count == 1)
      #expect(try await outbox.service.get(second).state == .pending)
    }
  }
}

/// The tokens that an API does not take.
private final class RefusedTokens: Sendable {
  private let fingerprints: Mutex<Set<Fingerprint?>>

  init(_ first: Fingerprint) { fingerprints = Mutex([first]) }

  func add(_ fingerprint: Fingerprint) { fingerprints.withLock { _ = $0.insert(fingerprint) } }
  func contains(_ fingerprint: Fingerprint?) -> Bool { fingerprints.withLock { $0.contains(fingerprint) } }
}
