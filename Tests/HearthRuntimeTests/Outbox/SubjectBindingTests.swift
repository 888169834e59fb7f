import HearthCore
import TestSupport
import Testing

@testable import HearthRuntime

@Suite(.timeLimit(.minutes(2))) struct SubjectBindingTests {
  @Test("Made while nobody was known: the first subject that signs in takes it; a hint does not")
  func nobody() async throws {
    try await withService(answers200) { outbox in
      await outbox.block("signedOut", knownSubject: nil)
      let id = try await outbox.add(Sample.draft())[0]
      await outbox.block("locked", knownSubject: Sample.bob)
      await outbox.signIn(Sample.alice)
      await outbox.delivered(id)
      #expect(try await outbox.service.get(id).subject == Sample.alice)
    }
  }

  @Test("Who signs in while another account is bound is bound to their own account")
  func boundMeanwhile() async throws {
    try await withService { outbox in
      var alices: [String] = []
      outbox.store.setFailing(true)
      for account in [Sample.work, Sample.other] { await outbox.block("locked", account: account) }
      await outbox.idle(until: outbox.clock.now() + .milliseconds(500))
      outbox.store.setFailing(false)
      for account in [Sample.work, Sample.other] { alices += try await outbox.add(Sample.draft(account: account)) }
      outbox.store.once(.afterBind) {
        for account in [Sample.work, Sample.other] { await outbox.signIn(Sample.bob, account: account) }
      }
      outbox.clock.advance(by: .milliseconds(500))
      for id in alices {
        await outbox.published.first { if case .held(let item) = $0 { item.id == id } else { false } }
      }
    }
  }

  @Test(
    "Who signs in while an item that nobody's was is written down takes it, bound already or just being bound",
    arguments: [true, false])
  func adoptedLate(isBound: Bool) async throws {
    try await withService(answers200) { outbox in
      await outbox.block("neverSignedIn", knownSubject: nil)
      let (binding, bound) = AsyncStream<Void>.makeStream()
      let (writing, written) = AsyncStream<Void>.makeStream()
      if !isBound {
        outbox.store.once(.afterBind) {
          bound.finish()
          for await _ in writing {}
        }
      }
      outbox.store.once(.beforeEnqueue) {
        await outbox.signIn()
        guard isBound else {
          for await _ in binding {}
          return
        }
        _ = try? await outbox.service.flush(Sample.work, timeout: .seconds(30))
      }
      try await outbox.add(Sample.draft())
      written.finish()
      #expect(try await outbox.service.flush(Sample.work, timeout: .seconds(30)).delivered == 1)
    }
  }
}
