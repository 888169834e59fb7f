import HearthCore
import TestSupport
import Testing

@testable import HearthRuntime

/// What is to come after some time comes after that time, though the clock is set back by an hour.
@Suite(.timeLimit(.minutes(2))) struct ClockSetBackTests {
  private func setBack(_ outbox: ServiceFixture) async {
    outbox.clock.step(by: .seconds(-3600), isTold: false)
    await outbox.service.clockChanged()
  }

  @Test("The outbox is swept")
  func prune() async throws {
    try await withService({ _, _ in .success(APIResponse(status: 200, skew: .zero)) }) { outbox in
      await outbox.signIn()
      try await outbox.delivered(outbox.add(Sample.draft("/1"))[0])
      await outbox.idle(until: outbox.clock.now() + .seconds(1))
      await setBack(outbox)
      try await outbox.delivered(outbox.add(Sample.draft("/2"))[0])
      await outbox.idle(until: outbox.clock.now() + .seconds(1))
      outbox.clock.advance(by: .seconds(1))
      await outbox.idle(until: outbox.clock.now() + .seconds(3 * 3600))
    }
  }

  @Test("A server that did not tell the time is asked again")
  func time() async throws {
    try await withService({ request, _ in
      request.method == "HEAD" ? .failure(.notSent(message: "refused")) : .success(APIResponse(status: 200))
    }) { outbox in
      try await outbox.add(Sample.draft("/old", lane: "old", expiresAt: outbox.clock.now() + .seconds(10)))
      outbox.clock.advance(by: .seconds(7200))
      await outbox.signIn()
      await outbox.idle(until: outbox.clock.now() + .seconds(60))
      await setBack(outbox)
      await outbox.idle(until: outbox.clock.now() + .seconds(60))
    }
  }

  @Test("What is delivered is written down, while others are on their way")
  func writing() async throws {
    try await withService(answers200) { outbox in
      await outbox.signIn()
      let quick = try await outbox.service.enqueueMany((0..<40).map { Sample.draft("/\($0)") })
      await outbox.delivered(quick[39].item.id)
      outbox.api.setRule { request, _ in request.url.target == "/slow" ? nil : .success(APIResponse(status: 200)) }
      // So many are taken ahead that no more are: what is finished is not written down with the taking of others.
      let slow = (0..<40).map { Sample.draft("/slow", lane: $0 < 16 ? "slow" : nil) }
      let ids = try await outbox.service.enqueueMany(slow + [Sample.draft("/quick")]).map(\.item.id)
      _ = await outbox.api.nextCall()
      await outbox.idle(until: outbox.clock.now() + .milliseconds(50))
      await setBack(outbox)
      outbox.clock.advance(by: .milliseconds(50))
      await outbox.delivered(ids[40])
    }
  }

  @Test("The end is not waited for any longer")
  func shutdown() async throws {
    try await withService { outbox in
      await outbox.signIn()
      try await outbox.add(Sample.draft())
      _ = await outbox.api.nextCall()
      await outbox.service.shutdown(grace: .seconds(2))
      await outbox.idle(until: outbox.clock.now() + .seconds(2))
      await setBack(outbox)
      outbox.clock.advance(by: .seconds(2))
    }
  }

  @Test("A fate is not unknown for longer because the clock was set ahead and nobody has been told")
  func untoldStep() async throws {
    try await withService { outbox in
      await outbox.signIn()
      let id = try await outbox.add(Sample.draft())[0]
      let call = await outbox.api.nextCall()
      outbox.clock.step(by: .seconds(48 * 3600), isTold: false)
      call.fail(.unanswered(message: "reset"))
      await outbox.retrying(id)
      await outbox.idle(until: outbox.clock.now() + .milliseconds(500))
      outbox.clock.advance(by: .milliseconds(500))
      await outbox.api.nextCall().answer(200)
      await outbox.delivered(id)
    }
  }
}
