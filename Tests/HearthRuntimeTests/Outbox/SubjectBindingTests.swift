import HearthControl
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

  @Test("Nothing is sent under a user whose name only looks alike")
  func lookalike() async throws {
    try await withService(answers200) { outbox in
      let (kay, kelvin) = (Subject(issuer: "i", id: "K"), Subject(issuer: "i", id: "\u{212A}"))
      await outbox.block("locked", knownSubject: kay)
      let id = try await outbox.add(Sample.draft())[0]
      await outbox.signIn(kelvin)
      await outbox.published.first { if case .held(let item) = $0 { item.id == id } else { false } }
      _ = try await outbox.service.flush(Sample.work, timeout: .seconds(30))
      #expect(outbox.paths() == [])
      await outbox.signIn(kay)
      await outbox.delivered(id)
    }
  }

  @Test("Without a name items are the sign-in's: they go on after it ended by itself, and wait after its own sign-out")
  func unnamed() async throws {
    try await withService(answers200) { outbox in
      func signIn() async {
        outbox.bearers.set(subject: nil)
        await outbox.service.sessionChanged(
          Sample.work, permission: .sendable(under: .unnamed), knownSubject: .unnamed,
          token: outbox.bearers.current.fingerprint)
      }
      await outbox.block("neverSignedIn", knownSubject: nil)
      let nobodys = try await outbox.add(Sample.draft("/nobodys"))[0]
      await signIn()
      await outbox.delivered(nobodys)
      await outbox.block("reauthRequired", knownSubject: .unnamed)
      let ended = try await outbox.add(Sample.draft("/ended"))[0]
      await signIn()
      await outbox.delivered(ended)
      await outbox.block("locked", knownSubject: .unnamed)
      let left = try await outbox.add(Sample.draft("/1"), Sample.draft("/2"))
      await outbox.block(OutboxPermission.signedOut, knownSubject: nil)
      for id in left {
        await outbox.published.first { if case .held(let item) = $0 { item.id == id } else { false } }
      }
      let next = try await outbox.add(Sample.draft("/next"))[0]
      await signIn()
      await outbox.delivered(next)
      #expect(try await outbox.service.flush(Sample.work, timeout: .seconds(30)).held == 2)
      #expect(outbox.paths() == ["/nobodys", "/ended", "/next"])
      #expect(try await outbox.service.retryAll(Sample.work, in: .held) == 2)
      await outbox.delivered(left[1])
      #expect(outbox.paths() == ["/nobodys", "/ended", "/next", "/1", "/2"])
    }
  }

  @Test("A sign-out is answered once the store knows that somebody without a name has left: a crash forgets it no more")
  func signedOut() async throws {
    try await withService(answers200) { outbox in
      let (bench, sessions) = (MetricsBench(), SessionDirectory())
      let control = try CallMetricsTests.control(bench, outbox.service, sessions)
      let session = bench.session(
        MemoryCredentialStore(.grant(.sample(1, issuedAt: bench.clock.now()))), ScriptedTokenEndpoint())
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await sessions.run() }
        group.addTask { await control.sinks.run() }
        await sessions.add(SessionDirectory.Entry(service: session, signIn: ScriptedSignInEndpoint()))
        _ = await session.call(.awaitReading)
        await outbox.block("locked", knownSubject: .unnamed)
        let left = try await outbox.add(Sample.draft("/left"))[0]
        let signOut = Request(id: 1, method: "session.signOut", params: ["account": "work", "revoke": false])
        guard case .result = await control.handle(signOut, from: RecordingPeer()) else {
          throw NeverHappened(description: "The sign-out was refused.")
        }
        #expect(try await outbox.store.stats(of: Sample.work).held == 1)
        // As after a crash, the outbox has heard nothing of the sign-out from the session.
        outbox.bearers.set(subject: nil)
        await outbox.service.sessionChanged(
          Sample.work, permission: .sendable(under: .unnamed), knownSubject: .unnamed,
          token: outbox.bearers.current.fingerprint)
        await outbox.delivered(try await outbox.add(Sample.draft("/next"))[0])
        #expect(try await outbox.service.get(left).state == .held)
        await sessions.stop(timeout: .zero)
        await control.sinks.stop()
      }
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
