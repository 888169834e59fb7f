import HearthCore
import HearthStorage
import TestSupport
import Testing

@testable import HearthRuntime

@Suite(.timeLimit(.minutes(2))) struct RefusedForNowTests {
  @Test("A refusal that says how long it lasts keeps its place in the lane, and is delivered in the end")
  func refusedForNow() async throws {
    try await withService { outbox in
      await outbox.signIn()
      let first = try await outbox.add(Sample.draft("/1"))[0]
      let second = try await outbox.add(Sample.draft("/2"))[0]
      await outbox.api.nextCall().answer(403, retryAfter: .seconds(120))
      let item = try #require(await outbox.retrying(first))
      #expect(item.nextAttemptAt == outbox.clock.now() + .seconds(120) && item.lastStatus == 403)
      await outbox.idle(until: outbox.clock.now() + .seconds(120))
      outbox.clock.advance(by: .seconds(120))
      for path in ["/1", "/2"] {
        let call = await outbox.api.nextCall()
        #expect(call.request.url.target == path)
        call.answer(200)
      }
      await outbox.delivered(first)
      await outbox.delivered(second)
    }
  }

  @Test("A PUT that was cut off waits until the server has unlocked what it had locked for that (423)")
  func locked() async throws {
    try await withService { outbox in
      await outbox.signIn()
      let id = try await outbox.add(Sample.draft(method: "PUT"))[0]
      await outbox.api.nextCall().fail(.unanswered(message: "reset"))
      for attempt in 1...3 {
        let item = try #require(await outbox.retrying(id, attempts: attempt))
        let due = try #require(item.nextAttemptAt)
        await outbox.idle(until: due)
        outbox.clock.advance(by: due - outbox.clock.now())
        await outbox.api.nextCall().answer(attempt == 3 ? 204 : 423)
      }
      await outbox.delivered(id)
    }
  }
}
