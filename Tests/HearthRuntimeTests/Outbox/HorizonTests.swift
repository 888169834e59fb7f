import HearthCore
import TestSupport
import Testing

@testable import HearthRuntime

/// Items of which nobody knows whether they have been done, on a machine that sleeps.
@Suite struct HorizonTests {
  private let longSleep = OutboxSettings().idempotencyHorizon + .seconds(1)

  /// What becomes of an item in the end: held, or, where it is sent once more, delivered.
  private func end(of id: String, _ outbox: ServiceFixture) async -> OutboxEvent {
    await outbox.published.first {
      switch $0 {
      case .held(let item), .delivered(let item): item.id == id
      case .enqueued, .retrying, .dead, .paused, .resumed: false
      }
    }
  }

  @Test(
    "The horizon counts from when a request was sent, however late its end is heard of",
    arguments: [.failure(.unanswered(message: "reset")), .success(APIResponse(status: 502))]
      as [ScriptedAPIEndpoint.Outcome])
  func sleptOverTheAnswer(_ outcome: ScriptedAPIEndpoint.Outcome) async throws {
    try await withService { outbox in
      await outbox.signIn()
      let id = try await outbox.add(Sample.draft())[0]
      let call = await outbox.api.nextCall()
      outbox.clock.advance(by: longSleep)
      outbox.api.setRule(answers200)
      call.answer(outcome)
      let end = await end(of: id, outbox)
      guard case .held(let item) = end else {
        Issue.record("\(end)")
        return
      }
      #expect(item.reason == .needsReview)
      #expect(outbox.api.log.count == 1)
    }
  }

  @Test("An item of unknown fate is looked at again before each request, for a machine may sleep in between")
  func sleptBeforeSending() async throws {
    try await withService { outbox in
      await outbox.signIn()
      let id = try await outbox.add(Sample.draft())[0]
      await outbox.api.nextCall().fail(.unanswered(message: "reset"))
      await outbox.retrying(id)
      await outbox.idle(until: outbox.clock.now() + .milliseconds(500))
      outbox.clock.advance(by: .milliseconds(500))
      let call = await outbox.api.nextCall()
      outbox.api.setRule(answers200)
      outbox.clock.advance(by: longSleep)
      call.answer(401)
      let end = await end(of: id, outbox)
      guard case .held(let item) = end else {
        Issue.record("\(end)")
        return
      }
      #expect(item.reason == .needsReview)
      #expect(outbox.api.log.count == 2)
    }
  }
}
