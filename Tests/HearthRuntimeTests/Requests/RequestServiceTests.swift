import HearthControl
import HearthCore
import TestSupport
import Testing

@testable import HearthRuntime

@Suite("The requests of callers") struct RequestServiceTests {
  private let api = ScriptedAPIEndpoint()
  private let bearers = ScriptedBearerTokenProvider(subject: Sample.alice, refusals: 1)
  private let clock = ManualClock()

  private func service() async -> RequestService {
    let service = RequestService(
      bearers: bearers, api: api, access: APIAccess(), store: MemoryResponseStore(), clock: clock)
    await service.reload([Sample.work: [Sample.origin], Sample.other: [Sample.origin]])
    return service
  }

  private func draft(_ path: String = "/a", _ method: String = "GET", body: String = "") -> RequestDraft {
    RequestDraft(account: Sample.work, method: method, url: "\(Sample.origin)\(path)", body: Array(body.utf8))
  }

  private func failure(
    of draft: RequestDraft, _ service: RequestService, for client: ConnectionID? = nil
  ) async -> Failure? {
    await #expect(throws: Failure.self) { try await service.answer(to: draft, for: client) }
  }

  @Test("are sent with the token, and the answer comes with the user it was asked under")
  func answered() async throws {
    api.setRule { request, _ in .success(APIResponse(status: 404, body: request.body)) }
    let answer = try await service().answer(to: draft("/a", "POST", body: "hi"))
    #expect(answer.response.status == 404 && answer.response.body == Array("hi".utf8))
    #expect(answer.subject == Sample.alice && api.log.map(\.fingerprint) == [bearers.current.fingerprint])
  }

  @Test("a 401 costs one report and one more request; the next one reports too, and then there is no session")
  func unauthorized() async throws {
    let service = await service()
    let first = bearers.current.fingerprint
    api.setRule { _, token in .success(APIResponse(status: token == first ? 401 : 200)) }
    #expect(try await service.answer(to: draft()).response.status == 200)
    #expect(bearers.refused == [first] && api.log.count == 2)

    api.setRule { _, _ in .success(APIResponse(status: 401)) }
    #expect(await failure(of: draft(), service) == .noSession)
    #expect(bearers.refused.count == 2 && bearers.accepted == [bearers.refused[1]], "the session is told of the 200")
  }

  @Test("each request that is sent is counted, with the status of its answer or without one")
  func counted() async throws {
    let bench = MetricsBench()
    let service = RequestService(
      bearers: bearers, api: api, access: APIAccess(), store: MemoryResponseStore(), clock: clock,
      sent: { bench.metrics.requested(for: $0, status: $1) })
    await service.reload([Sample.work: [Sample.origin]])
    let first = bearers.current.fingerprint
    api.setRule { _, token in .success(APIResponse(status: token == first ? 401 : 403)) }
    _ = try await service.answer(to: draft())
    api.setRule { _, _ in .failure(.unanswered(message: "")) }
    _ = await failure(of: draft(), service)
    #expect(
      bench.lines("hearth_requests_total") == [
        #"hearth_requests_total{account="work",answer="401"} 1"#,
        #"hearth_requests_total{account="work",answer="4xx"} 1"#,
        #"hearth_requests_total{account="work",answer="none"} 1"#,
      ])
  }

  @Test("an answer that asks for more than a fresh token costs no report, and is told as what it is")
  func challenged() async throws {
    let service = await service()
    let header = APIRequest.Header(name: "WWW-Authenticate", value: #"Bearer error="insufficient_scope", scope="b""#)
    api.setRule { _, _ in .success(APIResponse(status: 403, headers: [header])) }
    let challenge = Challenge(origin: Sample.origin, error: "insufficient_scope", scope: "b")
    #expect(await failure(of: draft(), service) == .challenge(challenge, Sample.work))
    #expect(bearers.refused == [] && api.log.count == 1)
  }

  @Test("where the session keeps its token, a 401 is the request's own answer")
  func rejectedAlone() async throws {
    let service = await service()
    let first = bearers.current.fingerprint
    bearers.keepToken()
    api.setRule { _, _ in .success(APIResponse(status: 401)) }
    #expect(try await service.answer(to: draft("/bad")).response.status == 401)
    #expect(bearers.refused == [first] && api.log.count == 1)
  }

  @Test("nothing is sent where the origin is not the account's, the account is unknown, or the draft is wrong")
  func refused() async throws {
    let service = await service()
    bearers.set(failure: .noSession)
    var foreign = draft()
    foreign.url = "https://second.example.com/"
    #expect(
      await failure(of: foreign, service) == .originNotAllowed(Sample.secondOrigin, Sample.work), "in every state")
    var unknown = draft()
    unknown.account = AccountName("nobody")!
    #expect(await failure(of: unknown, service) == .unknownAccount(unknown.account))
    let long = draft("/a", "POST", body: String(repeating: "x", count: 101))
    #expect(await failure(of: long, service) == .invalidParams("body must not be longer than 100 bytes"))
    #expect(await failure(of: draft(), service) == .noSession)
    bearers.set(failure: .unavailable(message: "down", retryAfter: .seconds(3)))
    #expect(await failure(of: draft(), service) == .unavailable(message: "down", retryAfter: .seconds(3)))
    #expect(api.log.isEmpty)
  }

  @Test("a reload that takes the origin away, or the account, ends what would be sent there again")
  func reloaded() async throws {
    for apis in [[Sample.work: [Sample.secondOrigin]], [:]] as [[AccountName: APISettings]] {
      let service = await service()
      async let failure = failure(of: draft(), service)
      let call = await api.nextCall()
      await service.reload(apis)
      call.answer(.success(APIResponse(status: 307, headers: [.init(name: "Location", value: "/b")])))
      #expect(
        await failure == (apis.isEmpty ? .unknownAccount(Sample.work) : .originNotAllowed(Sample.origin, Sample.work)))
    }
    #expect(api.log.map(\.request.url.target) == ["/a", "/a"])
  }

  @Test("a redirect is not followed once the session is locked or signed out")
  func lockedMeanwhile() async throws {
    let service = await service()
    async let failure = failure(of: draft(), service)
    let call = await api.nextCall()
    bearers.set(failure: .noSession)
    call.answer(.success(APIResponse(status: 302, headers: [.init(name: "Location", value: "/b")])))
    #expect(await failure == .noSession)
    #expect(api.log.count == 1)
  }

  @Test("a request whose user has been replaced by another is not sent again under the other's token")
  func otherUser() async throws {
    let service = await service()
    async let failure = failure(of: draft(), service)
    let call = await api.nextCall()
    bearers.set(subject: Sample.bob)
    bearers.renew()
    call.answer(401)
    #expect(await failure == .otherUser(Sample.work))
    #expect(api.log.count == 1)
  }

  @Test("a client that leaves gives its places back at once, and its requests are given up", .timeLimit(.minutes(1)))
  func clientLeaves() async throws {
    let service = await service()
    let (leaving, staying) = (ConnectionID(1), ConnectionID(2))
    await withTaskGroup(of: Void.self) { group in
      for number in 1...RequestPlaces.mostAtOnce {
        group.addTask { _ = try? await service.answer(to: draft(), for: number == 1 ? staying : leaving) }
      }
      var calls: [ScriptedAPIEndpoint.Call] = []
      for _ in 1...RequestPlaces.mostAtOnce { calls.append(await api.nextCall()) }
      #expect(await failure(of: draft(), service) == .tooManyRequests(of: Sample.work))
      service.places.clientLeft(leaving)
      group.addTask { _ = try? await service.answer(to: draft("/next"), for: staying) }
      let next = await api.nextCall()
      #expect(next.request.url.target == "/next", "there is room before those that were given up have ended")
      for _ in 1..<RequestPlaces.mostAtOnce { await group.next() }
      #expect(api.waiting == 2, "the API is asked on behalf of those who are there alone")
      // A call of theirs that had not begun yet asks for nothing either.
      let asked = api.log.count
      #expect(await failure(of: draft(), service, for: leaving) == .clientLeft)
      #expect(api.log.count == asked)
      service.places.clientForgotten(leaving)
      next.answer(200)
      service.places.clientLeft(staying)
    }
    #expect(api.waiting == 0)
  }

  @Test("what a client who has left was waiting for the token for is not sent")
  func clientLeavesEarly() async throws {
    let slow = SlowBearers()
    let service = RequestService(
      bearers: slow, api: api, access: APIAccess(), store: MemoryResponseStore(), clock: clock)
    await service.reload([Sample.work: [Sample.origin]])
    async let failure = failure(of: draft("/a", "POST"), service, for: ConnectionID(1))
    await slow.isAsked()
    service.places.clientLeft(ConnectionID(1))
    await slow.give(Bearer(of: Sample.work, token: bearers.current, subject: nil, secrets: []))
    #expect(await failure?.message == Failure.clientLeft.message)
    #expect(api.log.isEmpty)
  }

  @Test(
    "only so many of an account are under way at once, which is nothing to the other accounts, and there is room again when one is answered"
  )
  func atOnce() async throws {
    let service = await service()
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 1...RequestPlaces.mostAtOnce {
        group.addTask { try await service.answer(to: draft()).response.status }
      }
      var calls: [ScriptedAPIEndpoint.Call] = []
      for _ in 1...RequestPlaces.mostAtOnce { calls.append(await api.nextCall()) }
      #expect(await failure(of: draft(), service) == .tooManyRequests(of: Sample.work))
      var other = draft()
      other.account = Sample.other
      async let others = service.answer(to: other).response.status
      await api.nextCall().answer(202)
      #expect(try await others == 202)
      calls.removeLast().answer(200)
      #expect(try await group.next() == 200)
      async let next = service.answer(to: draft()).response.status
      await api.nextCall().answer(201)
      #expect(try await next == 201)
      for call in calls { call.answer(200) }
      for try await status in group { #expect(status == 200) }
    }
  }
}

/// A session whose token comes when the test says so, whether anybody still waits or not.
private actor SlowBearers: BearerTokenProvider {
  private var waiting: CheckedContinuation<Bearer, Never>?
  private var watcher: CheckedContinuation<Void, Never>?

  func bearer(for _: AccountName) async -> Bearer {
    await withCheckedContinuation {
      waiting = $0
      watcher?.resume()
    }
  }

  func tokenRejected(_: APIRejection, of account: AccountName) async -> Bearer { await bearer(for: account) }

  nonisolated func tokenAccepted(_: Fingerprint, by _: HTTPURL, of _: AccountName) {}

  func isAsked() async { if waiting == nil { await withCheckedContinuation { watcher = $0 } } }

  func give(_ bearer: Bearer) { waiting?.resume(returning: bearer) }
}
