import HearthCore
import TestSupport
import Testing

@testable import HearthRuntime

@Suite("Earlier answers in place of errors") struct StaleAnswerTests {
  private let api = ScriptedAPIEndpoint()
  private let bearers = ScriptedBearerTokenProvider(subject: Sample.alice)
  private let store = MemoryResponseStore()
  private let clock = ManualClock()

  private func service() async -> RequestService {
    let service = RequestService(bearers: bearers, api: api, access: APIAccess(), store: store, clock: clock)
    await service.reload([Sample.work: [Sample.origin]])
    await service.sessionChanged(Sample.work, .authenticated, Sample.alice)
    return service
  }

  private func ask(
    _ service: RequestService, _ path: String = "/a", of user: Subject? = Sample.alice,
    cache: RequestCache = .staleIfError
  ) async throws -> RequestService.Answer {
    let draft = RequestDraft(account: Sample.work, method: "GET", url: "\(Sample.origin)\(path)")
    return try await service.answer(to: draft, cache: cache, of: user)
  }

  private func answers(_ status: Int, _ headers: [String: String] = [:], body: String = "") {
    let response = APIResponse(
      status: status, headers: headers.map { APIRequest.Header(name: $0.key, value: $0.value) }, body: Array(body.utf8))
    api.setRule { _, _ in .success(response) }
  }

  @Test("are given with their age where the API fails, cannot be reached, or no token can be had")
  func given() async throws {
    let service = await service()
    answers(200, body: "good")
    #expect(try await ask(service).age == nil)
    clock.advance(by: .seconds(60))
    let failures: [() -> Void] =
      [500, 502, 503, 504].map { status in { answers(status, body: "bad") } } + [
        { api.setRule { _, _ in .failure(.notSent(message: "offline")) } },
        { api.setRule { _, _ in .failure(.unanswered(message: "late")) } },
        { bearers.set(failure: .unavailable(message: "down", retryAfter: nil)) },
      ]
    for (number, fail) in failures.enumerated() {
      fail()
      let answer = try await ask(service)
      #expect(answer.response.status == 200 && answer.response.body == Array("good".utf8), "\(number)")
      #expect(answer.age == .seconds(60) && answer.subject == Sample.alice)
    }
  }

  @Test("are given to nobody who did not ask for them")
  func unasked() async throws {
    let service = await service()
    answers(200)
    _ = try await ask(service, cache: .none)
    #expect(store.count == 0)
    _ = try await ask(service)
    answers(503)
    #expect(try await ask(service, cache: .none).response.status == 503)
  }

  @Test("do not hide what the API says of the request itself")
  func otherStatuses() async throws {
    let service = await service()
    answers(200)
    _ = try await ask(service)
    for status in [400, 429, 501, 505] {
      answers(status)
      #expect(try await ask(service).response.status == status)
    }
    answers(503)
    #expect(try await ask(service).age != nil, "and the last good one stays")
  }

  @Test("are gone once the API says that there is nothing, or nothing for this user", arguments: [403, 404, 410])
  func takenBack(status: Int) async throws {
    let service = await service()
    answers(200)
    _ = try await ask(service)
    answers(status)
    #expect(try await ask(service).response.status == status)
    #expect(store.count == 0)
    answers(503)
    #expect(try await ask(service).response.status == 503)
  }

  @Test("are not given without a session")
  func noSession() async throws {
    let service = await service()
    answers(200)
    _ = try await ask(service)
    bearers.set(failure: .noSession)
    await #expect(throws: Failure.noSession) { try await ask(service) }
    bearers.set(failure: nil)
    answers(503)
    #expect(try await ask(service, of: nil).response.status == 503)
    #expect(try await ask(service, of: Sample.bob).response.status == 503)
  }

  @Test("are asked for by ETag, and a 304 makes them the answer of now")
  func validated() async throws {
    let service = await service()
    answers(200, ["ETag": "\"1\""], body: "good")
    _ = try await ask(service)
    clock.advance(by: .seconds(60))
    answers(304, ["ETag": "\"1\""])
    let answer = try await ask(service)
    #expect(api.log.last?.request.headers == [.init(name: "If-None-Match", value: "\"1\"")])
    #expect(answer.response.status == 200 && answer.response.body == Array("good".utf8) && answer.age == nil)
    clock.advance(by: .seconds(5))
    answers(503)
    #expect(try await ask(service).age == .seconds(5))
  }

  @Test("that came from another address are not asked for by its ETag")
  func redirected() async throws {
    let service = await service()
    api.setRule { request, _ in
      let target = request.url.target
      return .success(
        target == "/a"
          ? APIResponse(status: 302, headers: [.init(name: "Location", value: "/b")])
          : APIResponse(status: 200, headers: [.init(name: "ETag", value: "\"b\"")]))
    }
    _ = try await ask(service)
    _ = try await ask(service)
    #expect(api.log.count == 4 && api.log.allSatisfy { $0.request.headers.isEmpty })
    answers(503)
    #expect(try await ask(service).age != nil)
  }

  @Test("are gone once the API says that its answer must not be kept")
  func noStore() async throws {
    let service = await service()
    answers(200)
    _ = try await ask(service)
    answers(200, ["Cache-Control": "no-store"])
    _ = try await ask(service)
    #expect(store.count == 0)
  }

  @Test("that repeat the token are not kept")
  func echo() async throws {
    let service = await service()
    answers(200, body: "you sent \(bearers.current.secret.reveal())")
    _ = try await ask(service)
    #expect(store.count == 0)
  }

  @Test("are wiped when their user signs out, when another takes their place, and when the account goes")
  func wiped() async throws {
    for end in 1...3 {
      let service = await service()
      answers(200)
      _ = try await ask(service)
      await service.sessionChanged(Sample.work, .locked(.explicit(.user)), Sample.alice)
      await service.sessionChanged(Sample.work, .reauthRequired(.refreshTokenRejected), Sample.alice)
      #expect(store.count == 1)
      switch end {
      case 1: await service.sessionChanged(Sample.work, .unauthenticated(signedOut: true), nil)
      case 2: await service.sessionChanged(Sample.work, .authenticated, Sample.bob)
      default: await service.reload([:])
      }
      #expect(store.count == 0, "\(end)")
    }
  }

  @Test("are gone when a sign-out is answered, though what was told of it before is still at work")
  func wipedTwice() async throws {
    let service = await service()
    answers(200)
    _ = try await ask(service)
    let (begun, begin) = AsyncStream<Void>.makeStream()
    let (released, release) = AsyncStream<Void>.makeStream()
    store.holdWipe {
      begin.yield()
      for await _ in released { break }
    }
    async let event: Void = service.sessionChanged(Sample.work, .unauthenticated(signedOut: true), nil)
    for await _ in begun { break }
    await service.sessionChanged(Sample.work, .unauthenticated(signedOut: true), nil)
    #expect(store.count == 0)
    release.yield()
    await event
  }

  @Test("that come after a sign-out are not kept")
  func lateAnswer() async throws {
    let service = await service()
    async let answer = ask(service)
    let call = await api.nextCall()
    await service.sessionChanged(Sample.work, .unauthenticated(signedOut: true), nil)
    call.answer(200)
    #expect(try await answer.response.status == 200)
    #expect(store.count == 0)
  }
}
