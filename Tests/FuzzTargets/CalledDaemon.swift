import HearthControl
import HearthCore
import HearthRuntime
import Logging
import TestSupport

/// Everything that answers calls, on doubles that answer at once. The clock moves only by half a minute between two
/// lines, so that no call waits for the pause after a refresh.
///
/// There is one account, "work", which is signed in and may send to `https://api.example.com`.
struct CalledDaemon: Sendable {
  private let service: ControlService
  private let clock: ManualClock
  let peer = RecordingPeer()
  /// A waiting item in the outbox.
  let item: String

  /// More than one input can request.
  private static let answers = 1000

  static func run<Value>(_ body: (CalledDaemon) async throws -> Value) async throws -> Value {
    let (clock, sessions) = (ManualClock(), SessionDirectory())
    let api = ScriptedAPIEndpoint { _, _ in .success(APIResponse(status: 200)) }
    let (hub, access) = (EventHub(clock: clock), APIAccess([Sample.work: [Sample.origin]]))
    let outbox = OutboxService(
      store: MemoryOutboxStore(clock: clock), bearers: ScriptedBearerTokenProvider(subject: Sample.alice), api: api,
      access: access, clock: clock, settings: OutboxSettings(), log: silent, random: { 0 },
      publish: { events, overview in hub.update(overview, after: events) })
    let requests = RequestService(
      bearers: sessions, api: api, access: access, store: MemoryResponseStore(), clock: clock)
    let streams = StreamService(requests: requests, exchanges: AnsweringExchanges(clock: clock), clock: clock)
    let endpoint = ScriptedTokenEndpoint()
    let signIn = ScriptedSignInEndpoint(takesPassword: true)
    for number in 0..<answers {
      endpoint.answer(.granted(.sample(100 + number)))
      signIn.answer(.failure(.denied(message: "The provider refuses it.")))
    }
    let session = SessionService(
      account: Sample.work, settings: SessionSettings(),
      store: MemoryCredentialStore(.grant(.sample(1, issuedAt: clock.now()))), endpoint: endpoint, clock: clock,
      logger: silent, seed: 1, publish: { events, status in hub.update(status, after: events) })
    let signIns = SignInService(redirects: ScriptedRedirects())
    let revocations = RevocationService(
      sessions: sessions, store: MemoryRevocationStore(), clock: clock, logger: silent)
    let sinks = SinkService(
      sessions: sessions, record: MemorySinkRecord(), clock: clock, logger: silent,
      makeFiles: { _, _ in MemorySinkFiles() })
    let service = ControlService(
      sessions: sessions, signIns: signIns, revocations: revocations, sinks: sinks, outbox: outbox, requests: requests,
      streams: streams, hub: hub,
      metrics: Metrics(store: MemoryMetricsStore(), clock: clock, logger: silent, elapsed: { .zero }), clock: clock,
      info: { [clock] in
        DaemonInfo(pid: 1, startedAt: clock.now(), paths: [("socket", "/run/s"), ("credentials", nil)])
      },
      token: { Token(secret: $0, fingerprint: Fingerprint("9f86d081")!) },
      reload: { () async throws(Failure) in hub.publish(.reloaded) })
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await sessions.run() }
      group.addTask { await signIns.run() }
      group.addTask { await revocations.run() }
      group.addTask { await sinks.run() }
      group.addTask { await outbox.run() }
      group.addTask { await streams.run() }
      let entry = SessionDirectory.Entry(service: session, signIn: signIn)
      await sessions.add(entry)
      _ = await session.call(.awaitReading)
      await outbox.sessionChanged(
        Sample.work, permission: .sendable(under: Sample.alice), knownSubject: Sample.alice,
        token: session.snapshot().token?.fingerprint)
      var draft = Sample.draft()
      draft.notBefore = clock.now() + .seconds(3600)
      let daemon = CalledDaemon(service: service, clock: clock, item: try await outbox.enqueue(draft).item.id)
      let result: Result<Value, any Error>
      do { result = .success(try await body(daemon)) } catch { result = .failure(error) }
      await streams.stop()
      await outbox.shutdown(grace: .zero)
      await sessions.stop(timeout: .zero)
      group.cancelAll()
      return try result.get()
    }
  }

  private static let silent = Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() }

  /// What a connection would write for this line, each answer as on the wire. Nothing for a notification.
  func answers(to line: [UInt8]) async -> [[UInt8]] {
    clock.advance(by: .seconds(30))
    let calls: [Incoming.Call]
    switch Incoming(line: line) {
    case .single(let call): calls = [call]
    case .batch(let batch): calls = batch
    case .refused(let error): return [Response(id: .null, outcome: .failure(error)).line]
    }
    var answers: [[UInt8]] = []
    for call in calls {
      switch call {
      case .invalid(let id, let error):
        if let id { answers.append(Response(id: id, outcome: .failure(error)).line) }
      case .request(let request):
        let outcome = await outcome(of: request)
        if let id = request.id { answers.append(Response(id: id, outcome: outcome).line) }
      }
    }
    return answers
  }

  private func outcome(of request: Request) async -> Result<JSON, RPCError> {
    if let result = service.resultAtOnce(of: request) { return .success(result) }
    switch await service.handle(request, from: peer) {
    case .result(let result): return .success(result)
    case .failure(let error): return .failure(error)
    case .subscribed(let result, let start):
      start()
      return .success(result)
    }
  }
}

/// An API that answers each exchange at once.
private struct AnsweringExchanges: APIExchangeEndpoint {
  let exchanges: ScriptedExchanges

  init(clock: any Clock) { exchanges = ScriptedExchanges(clock: clock) }

  func begin(
    _ request: APIRequest, of account: AccountName, bearer: Token
  ) async throws(ExchangeFailure) -> any APIExchange {
    let exchange = try await exchanges.begin(request, of: account, bearer: bearer)
    let begun = await exchanges.next()
    begun.answer(200)
    begun.bring(Array("answer".utf8))
    begun.finish()
    return exchange
  }
}
