import HearthCore
import HearthRuntime
import TestSupport
import Testing

@Suite("The metrics of sessions", .timeLimit(.minutes(1)))
struct SessionMetricsTests {
  let bench = MetricsBench()
  let credentials: MemoryCredentialStore
  let endpoint = ScriptedTokenEndpoint()

  init() {
    credentials = MemoryCredentialStore(.grant(.sample(1, issuedAt: bench.clock.now())))
  }

  private func running(
    _ bench: MetricsBench? = nil, _ body: (SessionService) async throws -> Void
  ) async throws {
    let bench = bench ?? self.bench
    let service = bench.session(credentials, endpoint)
    try await withThrowingTaskGroup { group in
      group.addTask { await service.run() }
      _ = await service.call(.awaitReading)
      let result: Result<Void, any Error>
      do { result = .success(try await body(service)) } catch { result = .failure(error) }
      await service.stop(timeout: .zero)
      try await group.waitForAll()
      try result.get()
    }
  }

  private func refreshes(_ result: String) -> String? {
    bench.value(#"hearth_refreshes_total{account="work",result="\#(result)"}"#)
  }

  private func signOuts(_ reason: String, in bench: MetricsBench? = nil) -> String? {
    (bench ?? self.bench).value(#"hearth_automatic_sign_outs_total{account="work",reason="\#(reason)"}"#)
  }

  private func refuse(_ service: SessionService) async {
    endpoint.answer(.failed(.rejected(.refreshToken, message: "It was revoked.")))
    _ = await service.call(.refresh)
  }

  private func signIn(_ service: SessionService) async throws {
    try await service.adopt(.sample(7, issuedAt: bench.clock.now()), isTried: true)
  }

  /// One a session: after a failure the session asks again by itself.
  @Test(
    "A refresh is counted by its result, and the other results are zero",
    arguments: ["success", "unavailable", "misconfigured", "rejected"])
  func refreshes(result: String) async throws {
    try await running { service in
      let results = ["success", "unavailable", "misconfigured", "rejected"]
      #expect(results.map(refreshes) == ["0", "0", "0", "0"])
      switch result {
      case "success": endpoint.answer(.granted(.sample(2)))
      case "unavailable": endpoint.answer(.failed(.unavailable(message: "503", retryAfter: nil)))
      case "misconfigured": endpoint.answer(.failed(.misconfigured(message: "invalid_client")))
      default: endpoint.answer(.failed(.rejected(.refreshToken, message: "It was revoked.")))
      }
      _ = await service.call(.refresh)
      #expect(results.map(refreshes) == results.map { $0 == result ? "1" : "0" })
    }
  }

  @Test("Tokens and requests of programs are counted from zero, requests by answer")
  func programs() async throws {
    try await running { _ in
      #expect(bench.value(#"hearth_tokens_given_total{account="work"}"#) == "0")
      #expect(
        bench.lines("hearth_requests_total")
          == ["2xx", "3xx", "401", "4xx", "5xx", "none"].map {
            #"hearth_requests_total{account="work",answer="\#($0)"} 0"#
          })
    }
  }

  @Test("A token's 401 is counted once, however many report it")
  func unauthorized() async throws {
    try await running { service in
      #expect(bench.value(#"hearth_unauthorized_total{account="work"}"#) == "0")
      let token = try #require(await service.snapshot().token)
      async let first = service.call(.reportUnauthorized(APIRejection(token.fingerprint)))
      await endpoint.waitForRequests(1)
      async let second = service.call(.reportUnauthorized(APIRejection(token.fingerprint)))
      endpoint.answer(.granted(.sample(2)))
      _ = await (first, second)
      #expect(bench.value(#"hearth_unauthorized_total{account="work"}"#) == "1")
    }
  }

  @Test("An end that nobody asked for is counted by its reason; signing out is none")
  func automaticSignOuts() async throws {
    try await running { service in
      await refuse(service)
      #expect(signOuts("refreshTokenRejected") == "1")
      try await signIn(service)
      _ = await service.call(.signOut(revoke: false))
      #expect(await service.snapshot().state == .unauthenticated(signedOut: true))
      #expect(bench.lines("hearth_automatic_sign_outs_total").filter { !$0.hasSuffix(" 0") }.count == 1)
      #expect(signOuts("signedOut") == nil)
    }
  }

  @Test("A session that has ended and is found to have ended for another reason has not ended twice")
  func otherReason() throws {
    var status = SessionStatus(
      account: .sample, state: .reauthRequired(.credentialMissing), message: "", since: bench.clock.now(),
      isReadable: true)
    bench.metrics.update(status, after: [.changed(from: .hydrating, to: status.state)])
    let before = status.state
    status.state = .reauthRequired(.credentialCorrupt)
    bench.metrics.update(status, after: [.changed(from: before, to: status.state)])
    #expect(["credentialMissing", "credentialCorrupt"].map { signOuts($0) } == ["1", "0"])
  }

  @Test("The time from an end until the account is signed in again is observed, by the end's reason")
  func signedOutTime() async throws {
    try await running { service in
      await refuse(service)
      bench.clock.advance(by: .seconds(200))
      #expect(bench.lines("hearth_signed_out_seconds").isEmpty)
      try await signIn(service)
      let labels = #"account="work",reason="refreshTokenRejected""#
      #expect(bench.value("hearth_signed_out_seconds_sum{\(labels)}") == "200")
      #expect(bench.value(#"hearth_signed_out_seconds_bucket{\#(labels),le="60.0"}"#) == "0")
      #expect(bench.value(#"hearth_signed_out_seconds_bucket{\#(labels),le="300.0"}"#) == "1")
      _ = await service.call(.signOut(revoke: false))
      bench.clock.advance(by: .seconds(10))
      try await signIn(service)
      #expect(bench.value(#"hearth_signed_out_seconds_sum{account="work",reason="signedOut"}"#) == "10")
    }
  }

  @Test("Both go on over a restart, the time of the end too; refreshes begin at zero")
  func restart() async throws {
    try await running { service in
      async let kept: Void = bench.metrics.run()
      await refuse(service)
      bench.metrics.stop()
      await kept
    }
    let next = MetricsBench(bench.store)
    next.clock.advance(by: .seconds(500))
    await next.metrics.recall()
    try await running(next) { service in
      #expect(signOuts("refreshTokenRejected", in: next) == "1")
      #expect(next.value(#"hearth_refreshes_total{account="work",result="rejected"}"#) == "0")
      async let kept: Void = next.metrics.run()
      try await service.adopt(.sample(7, issuedAt: next.clock.now()), isTried: true)
      let sum = #"hearth_signed_out_seconds_sum{account="work",reason="refreshTokenRejected"}"#
      #expect(next.value(sum) == "500")
      next.metrics.stop()
      await kept
    }
    let last = MetricsBench(bench.store)
    await last.metrics.recall()
    #expect(
      last.lines("hearth_signed_out_seconds") == next.lines("hearth_signed_out_seconds"))
    #expect(last.lines("hearth_refreshes_total").isEmpty)
  }

  @Test("What cannot be read is not written over, and counting begins anew")
  func unreadable() async throws {
    bench.store.cannotBeUsed(AccessFailure(.storageError, detail: "it is broken"))
    await bench.metrics.recall()
    bench.store.cannotBeUsed(nil)
    try await running { service in
      async let kept: Void = bench.metrics.run()
      await refuse(service)
      bench.metrics.stop()
      await kept
    }
    #expect(signOuts("refreshTokenRejected") == "1")
    #expect(bench.store.kept.isEmpty)
  }

  @Test("Whether the account is signed in, and how long its token lasts, are those of the moment")
  func levels() async throws {
    try await running { service in
      #expect(bench.value(#"hearth_session_authenticated{account="work"}"#) == "1")
      let token = try #require(await service.snapshot().token?.remaining(at: bench.clock.now()))
      let seconds = token.components.seconds
      #expect(bench.value(#"hearth_token_remaining_seconds{account="work"}"#) == "\(seconds)")
      bench.clock.advance(by: .seconds(7))
      #expect(bench.value(#"hearth_token_remaining_seconds{account="work"}"#) == "\(seconds - 7)")
      await refuse(service)
      #expect(bench.value(#"hearth_session_authenticated{account="work"}"#) == "0")
      #expect(bench.value(#"hearth_token_remaining_seconds{account="work"}"#) == nil)
    }
  }
}
