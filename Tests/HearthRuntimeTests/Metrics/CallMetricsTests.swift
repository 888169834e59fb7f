import HearthControl
import HearthCore
import HearthStorage
import TestSupport
import Testing

@testable import HearthRuntime

@Suite("The metrics of outbox, calls and connections", .timeLimit(.minutes(1)))
struct CallMetricsTests {
  let bench = MetricsBench()

  private func item(_ state: OutboxItem.State, bytes: Int = 5) -> OutboxItem {
    OutboxItem(
      id: "1", account: Sample.work, subject: Sample.alice, lane: "default", method: "POST",
      url: "https://api.example.com/notes", state: state, createdAt: bench.clock.now(), idempotencyKey: "k",
      bytes: bytes)
  }

  @Test("A delivery is observed with the time since the item was accepted, and its bytes")
  func delivery() {
    let item = item(.delivered)
    bench.clock.advance(by: .seconds(3))
    bench.metrics.update(after: [.enqueued(item), .retrying(item)])
    #expect(bench.lines("hearth_delivery_latency_seconds").isEmpty)
    bench.metrics.update(after: [.delivered(item), .delivered(item)])
    #expect(bench.value(#"hearth_delivery_latency_seconds_sum{account="work"}"#) == "6")
    #expect(bench.value(#"hearth_delivery_latency_seconds_bucket{account="work",le="1.0"}"#) == "0")
    #expect(bench.value(#"hearth_delivery_latency_seconds_bucket{account="work",le="5.0"}"#) == "2")
    #expect(bench.value(#"hearth_delivered_bytes_total{account="work"}"#) == "10")
  }

  @Test("Each request of the outbox is counted by the class of its answer, and timed")
  func attempts() async throws {
    let url = try #require(Sample.url)
    let request = APIRequest(method: "POST", url: url, headers: [], body: [], idempotencyKey: "k")
    let token = Token(secret: Secret("t"), fingerprint: try #require(Fingerprint("9f86d081")))
    let outcomes: [ScriptedAPIEndpoint.Outcome] = [
      .success(APIResponse(status: 204)), .success(APIResponse(status: 503)), .success(APIResponse(status: 500)),
      .success(APIResponse(status: 401)), .failure(.unanswered(message: "")),
    ]
    for outcome in outcomes {
      let api = ScriptedAPIEndpoint { [bench] _, _ in
        bench.advance(by: .milliseconds(20))
        return outcome
      }
      let measured = bench.metrics.measuring(api)
      _ = try? await measured.exchange(request, of: Sample.work, bearer: token, timeout: .seconds(1))
      _ = try? await measured.exchange(request, of: Sample.work, bearer: nil, timeout: .seconds(1))
    }
    #expect(
      bench.lines("hearth_delivery_attempts_total") == [
        #"hearth_delivery_attempts_total{account="work",answer="2xx"} 1"#,
        #"hearth_delivery_attempts_total{account="work",answer="401"} 1"#,
        #"hearth_delivery_attempts_total{account="work",answer="5xx"} 2"#,
        #"hearth_delivery_attempts_total{account="work",answer="none"} 1"#,
      ])
    #expect(bench.value(#"hearth_delivery_attempt_duration_seconds_sum{account="work"}"#) == "0.1")
    #expect(bench.value(#"hearth_delivery_attempt_duration_seconds_bucket{account="work",le="0.01"}"#) == "0")
  }

  @Test("The outbox's items by state, and their bytes, are those of its last counts")
  func outbox() {
    var stats = OutboxStats()
    (stats.pending, stats.inFlight, stats.waiting, stats.held, stats.delivered, stats.dead) = (1, 2, 3, 4, 5, 6)
    stats.bytes = 70
    bench.hub.update((stats, [Sample.work: stats]), after: [])
    let states = ["pending", "inFlight", "waiting", "held", "delivered", "dead"]
    #expect(
      states.map { bench.value(#"hearth_outbox_items{account="work",state="\#($0)"}"#) }
        == ["1", "2", "3", "4", "5", "6"])
    #expect(bench.value(#"hearth_outbox_bytes{account="work"}"#) == "70")
  }

  @Test("Subscriptions are counted while they last, and those that lagged for good")
  func subscriptions() throws {
    let peer = RecordingPeer()
    let (_, start) = try bench.hub.subscribe(topics: [.outbox], account: nil, peer: peer)
    start()
    #expect(bench.value("hearth_subscriptions") == "1")
    #expect(bench.value("hearth_lagged_subscribers_total") == "0")
    peer.sink.stall()
    for _ in 0...EventHub.backlog { bench.hub.publish(.outbox(.enqueued(item(.pending)))) }
    #expect(bench.value("hearth_subscriptions") == "0")
    #expect(bench.value("hearth_lagged_subscribers_total") == "1")
  }

  @Test("Calls are counted by method and result and timed, at once or later; an unknown name is no label")
  func calls() async throws {
    try await withService { fixture in
      let service = try control(fixture.service)
      func call(_ method: String, _ params: JSONObject = [:]) async {
        _ = await service.handle(Request(id: 1, method: method, params: params), from: RecordingPeer())
      }
      await call("session.list")
      await call("session.list")
      await call("session.get", ["account": "nobody"])
      await call("session.get", ["name": "work"])
      await call("made.up.\(Sample.alice.id)")
      #expect(service.resultAtOnce(of: Request(id: 1, method: "session.getToken", params: ["account": "work"])) == nil)
      #expect(
        bench.lines("hearth_rpc_calls_total").filter { !$0.hasSuffix(" 0") } == [
          #"hearth_rpc_calls_total{method="session.get",result="invalidParams"} 1"#,
          #"hearth_rpc_calls_total{method="session.get",result="unknownAccount"} 1"#,
          #"hearth_rpc_calls_total{method="session.list",result="success"} 2"#,
          #"hearth_rpc_calls_total{method="unknown",result="methodNotFound"} 1"#,
        ])
      #expect(bench.value(#"hearth_rpc_duration_seconds_count{method="session.list"}"#) == "2")
    }
  }

  @Test("What is refused before it is handled is counted, under its method where that is known, and takes no time")
  func refusals() async throws {
    try await withService { fixture in
      let service = try control(fixture.service)
      service.refused(nil, .parseError("The line is not JSON."))
      service.refused(nil, .overloaded("There are too many connections."))
      service.refused(Request(id: 1, method: "session.list"), .shuttingDown)
      service.refused(Request(id: 1, method: "made.up.\(Sample.alice.id)"), .shuttingDown)
      #expect(
        bench.lines("hearth_rpc_calls_total") == [
          #"hearth_rpc_calls_total{method="session.list",result="shuttingDown"} 1"#,
          #"hearth_rpc_calls_total{method="unknown",result="overloaded"} 1"#,
          #"hearth_rpc_calls_total{method="unknown",result="parseError"} 1"#,
          #"hearth_rpc_calls_total{method="unknown",result="shuttingDown"} 1"#,
        ])
      #expect(bench.lines("hearth_rpc_duration_seconds_count").isEmpty)
    }
  }

  @Test("A token given at once or later is counted for its account, and its call like any other")
  func instant() async throws {
    try await withService { fixture in
      let sessions = SessionDirectory()
      let credentials = MemoryCredentialStore(.grant(.sample(1, issuedAt: bench.clock.now())))
      let session = bench.session(credentials, ScriptedTokenEndpoint())
      let service = try control(fixture.service, sessions)
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await sessions.run() }
        let entry = SessionDirectory.Entry(service: session, signIn: ScriptedSignInEndpoint())
        await sessions.add(entry)
        _ = await session.call(.awaitReading)
        let request = Request(id: 1, method: "session.getToken", params: ["account": "work"])
        #expect(service.resultAtOnce(of: request) != nil)
        _ = await service.handle(request, from: RecordingPeer())
        await sessions.stop(timeout: .zero)
      }
      #expect(bench.value(#"hearth_tokens_given_total{account="work"}"#) == "2")
      #expect(bench.value(#"hearth_rpc_calls_total{method="session.getToken",result="success"}"#) == "2")
      #expect(bench.value(#"hearth_rpc_duration_seconds_count{method="session.getToken"}"#) == "2")
    }
  }

  @Test("The time of a call is that from its begin to its answer")
  func duration() {
    let begun = bench.metrics.begin()
    bench.advance(by: .milliseconds(30))
    bench.metrics.called("outbox.flush", error: nil, since: begun)
    #expect(bench.value(#"hearth_rpc_duration_seconds_sum{method="outbox.flush"}"#) == "0.03")
    #expect(bench.value(#"hearth_rpc_duration_seconds_bucket{method="outbox.flush",le="0.01"}"#) == "0")
    #expect(bench.value(#"hearth_rpc_duration_seconds_bucket{method="outbox.flush",le="0.05"}"#) == "1")
  }

  @Test("Connections are counted while they last")
  func connections() async throws {
    try await withService { fixture in
      let service = try control(fixture.service)
      service.connectionOpened(ConnectionID(1))
      service.connectionOpened(ConnectionID(2))
      #expect(bench.value("hearth_connections") == "2")
      await service.connectionClosed(ConnectionID(1))
      #expect(bench.value("hearth_connections") == "1")
    }
  }

  @Test("A report has its metrics as JSON or as text, and says when the daemon began and which it is")
  func report() async throws {
    try await withService { fixture in
      let service = try control(fixture.service)
      func ask(_ params: JSONObject) async -> JSONObject? {
        let request = Request(id: 1, method: "daemon.getMetrics", params: params)
        guard case .result(let json) = await service.handle(request, from: RecordingPeer()) else { return nil }
        return json.object
      }
      for params: JSONObject in [[:], ["format": "json"]] {
        let report = try #require(await ask(params))
        #expect(report.members.map(\.key) == ["metrics"])
        #expect(report["metrics"]?.array?.count == MetricName.allCases.count)
      }
      let report = try #require(await ask(["format": "openmetrics"]))
      #expect(report.members.map(\.key) == ["text"])
      #expect(report["text"]?.string?.hasSuffix("\n# EOF\n") == true)
      #expect(await ask(["format": "xml"]) == nil)
    }
    #expect(bench.value("hearth_start_time_seconds") == "\(Sample.start.milliseconds / 1000)")
    #expect(bench.value(#"hearth_build_info{version="1.2.3"}"#) == "1")
  }

  @Test("The page for operators lists each metric under the name that a scraper sees", arguments: MetricName.allCases)
  func isListed(_ name: MetricName) {
    let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let shown = name.rawValue + (name.definition.kind == .counter ? "_total" : "")
    #expect(Files.text("/\(root)/etc/docs/operators.md").contains("`\(shown)`"))
  }

  private func control(
    _ outbox: OutboxService, _ sessions: SessionDirectory = SessionDirectory()
  ) throws -> ControlService {
    try Self.control(bench, outbox, sessions)
  }

  static func control(
    _ bench: MetricsBench, _ outbox: OutboxService, _ sessions: SessionDirectory
  ) throws -> ControlService {
    let (clock, fingerprint) = (bench.clock, try #require(Fingerprint("9f86d081")))
    let requests = RequestService(
      bearers: sessions, api: ScriptedAPIEndpoint(), access: APIAccess(), store: MemoryResponseStore(), clock: clock)
    return ControlService(
      sessions: sessions,
      signIns: SignInService(redirects: ScriptedRedirects()),
      revocations: RevocationService(
        sessions: sessions, store: MemoryRevocationStore(), clock: clock, logger: .silent),
      sinks: SinkService(
        sessions: sessions, record: MemorySinkRecord(), clock: clock, logger: .silent,
        makeFiles: { _, _ in MemorySinkFiles() }),
      outbox: outbox,
      requests: requests,
      streams: StreamService(requests: requests, exchanges: ScriptedExchanges(clock: clock), clock: clock),
      hub: bench.hub, metrics: bench.metrics, clock: clock, info: { bench.info },
      token: { Token(secret: $0, fingerprint: fingerprint) }, reload: { () async throws(Failure) in })
  }
}
