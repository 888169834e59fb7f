import HearthControl
import HearthCore
import TestSupport
import Testing

@testable import HearthRuntime

@Suite("Requests whose bodies go in pieces", .timeLimit(.minutes(1))) struct RequestStreamTests {
  let bearers = ScriptedBearerTokenProvider(subject: Sample.alice, refusals: 1)
  let clock = ManualClock()
  let connection = ConnectionID(1)

  struct Scene {
    let service: StreamService
    let requests: RequestService
    let exchanges: ScriptedExchanges
  }

  func scene(_ body: (Scene) async throws -> Void) async throws {
    let requests = RequestService(
      bearers: bearers, api: ScriptedAPIEndpoint(), access: APIAccess(), store: MemoryResponseStore(), clock: clock)
    await requests.reload([Sample.work: [Sample.origin]])
    let exchanges = ScriptedExchanges(clock: clock)
    let service = StreamService(requests: requests, exchanges: exchanges, clock: clock)
    let result: Result<Void, any Error> = await withTaskGroup(of: Void.self) { group in
      group.addTask { await service.run() }
      let result = await Result { try await body(Scene(service: service, requests: requests, exchanges: exchanges)) }
      await service.stop()
      return result
    }
    try result.get()
  }

  func draft(_ method: String = "POST", timeout: Duration = .seconds(30)) -> RequestDraft {
    RequestDraft(account: Sample.work, method: method, url: "\(Sample.origin)/a", timeout: timeout)
  }

  func opened(_ scene: Scene, _ upload: APIRequest.Upload? = .chunked) async throws -> RequestStream {
    try await scene.service.open(draft(upload == nil ? "GET" : "POST"), upload, on: connection)
  }

  func failure<Value>(of body: () async throws -> Value) async -> Failure? {
    do {
      _ = try await body()
      return nil
    } catch {
      return error as? Failure
    }
  }

  /// Moves the time on as far as the stream's next look.
  func pass(_ duration: Duration) async {
    await clock.waitForSleeper(until: clock.now() + duration)
    clock.advance(by: duration)
  }

  func status(_ reading: ReadPiece) -> Int? { reading.status }

  func piece(_ reading: ReadPiece) -> [UInt8]? { reading.data.isEmpty ? nil : reading.data }

  func isRewind(_ reading: ReadPiece) -> Bool { reading.next == 0 }

  func isEnd(_ reading: ReadPiece) -> Bool { reading.isEnd }

  let gone = Failure.invalidParams("stream is unknown: there is no stream \"1\" on this connection")

  @Test("nothing is sent before the first piece; body and answer go in their order, and then the stream is closed")
  func course() async throws {
    try await scene { scene in
      let stream = try await opened(scene)
      async let first = stream.write([1, 2], at: 0, isLast: false)
      let exchange = await scene.exchanges.next()
      #expect(try await first == 2)
      #expect(exchange.request.upload == .chunked && exchange.fingerprint == bearers.current.fingerprint)
      #expect(try await stream.write([3], at: 2, isLast: true) == nil)
      #expect(exchange.written == [1, 2, 3] && exchange.isComplete)
      exchange.answer(201)
      #expect(try await status(stream.read()) == 201)
      exchange.bring([4])
      exchange.bring([5, 6])
      #expect(try await piece(stream.read()) == [4])
      #expect(try await piece(stream.read()) == [5, 6])
      exchange.finish()
      #expect(try await isEnd(stream.read()))
      #expect(await failure { try await stream.read() } == gone)
      #expect(exchange.cancelled == "nobody is waiting for the response" || exchange.cancelled == nil)
    }
  }

  @Test("a body that was taken whole is asked for again after a 401, and goes with the next token")
  func unauthorized() async throws {
    try await scene { scene in
      let stream = try await opened(scene, .sized(3))
      async let first = stream.write([1, 2, 3], at: 0, isLast: false)
      let exchange = await scene.exchanges.next()
      #expect(try await first == nil, "all of it")
      async let reading = stream.read()
      exchange.answer(401)
      #expect(try await isRewind(reading))
      #expect(exchange.isCancelled)
      async let again = stream.write([1, 2, 3], at: 0, isLast: false)
      let next = await scene.exchanges.next()
      #expect(try await again == nil)
      #expect(next.written == [1, 2, 3] && next.fingerprint != exchange.fingerprint)
      next.answer(200)
      #expect(try await status(stream.read()) == 200, "nobody is told of the 401")
    }
  }

  @Test("an answer that asks for more than a fresh token is told as that, and nothing is sent again for it")
  func challenged() async throws {
    try await scene { scene in
      let stream = try await opened(scene, .sized(3))
      async let first = stream.write([1, 2, 3], at: 0, isLast: false)
      let exchange = await scene.exchanges.next()
      #expect(try await first == nil)
      async let reading = failure { try await stream.read() }
      exchange.answer(401, headers: [.init(name: "WWW-Authenticate", value: #"Bearer claims="e30""#)])
      #expect(await reading == .challenge(Challenge(origin: Sample.origin, claims: "e30"), Sample.work))
      #expect(bearers.refused == [] && exchange.isCancelled)
    }
  }

  @Test("in the middle of a body, a 401 sends the writer back to its beginning, and the reader is told nothing")
  func unauthorizedMidway() async throws {
    try await scene { scene in
      let stream = try await opened(scene)
      async let first = stream.write([1, 2], at: 0, isLast: false)
      let exchange = await scene.exchanges.next()
      #expect(try await first == 2)
      exchange.hold()
      async let second = stream.write([3], at: 2, isLast: true)
      await exchange.wait(until: \.isAwaited)
      exchange.answer(401)
      #expect(try await second == 0)
      #expect(try await stream.write([9], at: 5, isLast: false) == 0, "it is the first one that is wanted")
      async let again = stream.write([1, 2, 3], at: 0, isLast: true)
      let next = await scene.exchanges.next()
      #expect(try await again == nil)
      async let reading = stream.read()
      next.answer(200)
      #expect(try await status(reading) == 200)
    }
  }

  @Test("a first piece that meets a 401 goes with the next token by itself")
  func unauthorizedAtOnce() async throws {
    try await scene { scene in
      let stream = try await opened(scene)
      async let first = stream.write([1, 2], at: 0, isLast: false)
      let exchange = await scene.exchanges.next()
      exchange.hold()
      await exchange.wait(until: \.isAwaited)
      exchange.answer(401)
      let next = await scene.exchanges.next()
      #expect(try await first == 2)
      #expect(next.written == [1, 2] && exchange.written.isEmpty)
    }
  }

  @Test("a redirect that keeps the body has it written again; one that does not follows without it")
  func redirected() async throws {
    for status in [307, 303] {
      try await scene { scene in
        let stream = try await opened(scene)
        async let first = stream.write([1], at: 0, isLast: true)
        let exchange = await scene.exchanges.next()
        #expect(try await first == nil)
        async let reading = stream.read()
        exchange.answer(status, headers: [.init(name: "Location", value: "/b")])
        if status == 307 {
          #expect(try await isRewind(reading))
          async let again = stream.write([1], at: 0, isLast: true)
          let next = await scene.exchanges.next()
          #expect(try await again == nil)
          #expect(next.request.url.target == "/b" && next.request.method == "POST" && next.written == [1])
        } else {
          let next = await scene.exchanges.next()
          #expect(next.request.method == "GET" && next.request.upload == nil)
          next.answer(200)
          let head = try await reading
          #expect(head.status == 200 && head.url == "\(Sample.origin)/b")
        }
      }
    }
  }

  @Test("an answer that comes before the end of the body ends the writing, and is given")
  func early() async throws {
    try await scene { scene in
      let stream = try await opened(scene)
      async let first = stream.write([1], at: 0, isLast: false)
      let exchange = await scene.exchanges.next()
      #expect(try await first == 1)
      exchange.hold()
      async let second = stream.write([2], at: 1, isLast: false)
      await exchange.wait(until: \.isAwaited)
      exchange.answer(413)
      #expect(try await second == nil)
      #expect(try await status(stream.read()) == 413)
    }
  }

  @Test("a success that begins before the end of the body lets both go on")
  func duplex() async throws {
    try await scene { scene in
      let stream = try await opened(scene)
      async let first = stream.write([1], at: 0, isLast: false)
      let exchange = await scene.exchanges.next()
      #expect(try await first == 1)
      exchange.answer(200)
      exchange.bring([10])
      #expect(try await status(stream.read()) == 200)
      #expect(try await piece(stream.read()) == [10])
      async let reading = stream.read()
      #expect(try await stream.write([2], at: 1, isLast: false) == 2)
      exchange.bring([20])
      #expect(try await piece(reading) == [20])
      #expect(exchange.written == [1, 2])
    }
  }

  @Test("where the session is over there is no stream, and where it ends by the 401 the stream fails with it")
  func noSession() async throws {
    try await scene { scene in
      bearers.set(failure: .noSession)
      #expect(await failure { try await opened(scene) } == .noSession)
      bearers.set(failure: nil)
      let stream = try await opened(scene, nil)
      let exchange = await scene.exchanges.next()
      async let reading = failure { try await stream.read() }
      bearers.set(failure: .noSession)
      exchange.answer(401)
      #expect(await reading == .noSession)
    }
  }

  @Test("another user's token is not put under the body of the one who has gone")
  func otherUser() async throws {
    try await scene { scene in
      let stream = try await opened(scene)
      async let first = stream.write([1], at: 0, isLast: true)
      let exchange = await scene.exchanges.next()
      #expect(try await first == nil)
      async let reading = failure { try await stream.read() }
      bearers.set(subject: Sample.bob)
      exchange.answer(401)
      #expect(await reading == .otherUser(Sample.work))
    }
  }

  // MARK: - What is refused

  @Test("a piece that is too long, does not fit the length, or belongs to no body is refused, and changes nothing")
  func refused() async throws {
    try await scene { scene in
      func refusal(_ stream: RequestStream, _ piece: [UInt8], _ offset: Int, _ isLast: Bool) async -> String? {
        let told = await failure {
          try await stream.write(piece, at: offset, isLast: isLast)
        }
        return told?.kind == .invalidParams ? told?.message : nil
      }
      let stream = try await opened(scene, .sized(3))
      let long = [UInt8](repeating: 0, count: APIRequest.pieceLimit + 1)
      #expect(await refusal(stream, long, 0, false) == "data must not be longer than 262144 bytes")
      #expect(
        await refusal(stream, [1, 2, 3, 4], 0, false)
          == "data exceeds the 3 bytes that were announced when the stream was opened")
      #expect(
        await refusal(stream, [], .max, false)
          == "data exceeds the 3 bytes that were announced when the stream was opened")
      #expect(
        await refusal(stream, [1], 0, true)
          == "end cannot be true yet, because the body is shorter than the 3 bytes that were announced")
      #expect(try await stream.write([1], at: 2, isLast: false) == 0)
      async let first = stream.write([1, 2], at: 0, isLast: false)
      let exchange = await scene.exchanges.next()
      #expect(try await first == 2)
      #expect(try await stream.write([9], at: 0, isLast: false) == 2, "it was taken already")
      #expect(exchange.written == [1, 2])
      for upload in [nil, .sized(0)] as [APIRequest.Upload?] {
        let other = try await opened(scene, upload)
        #expect(await refusal(other, [], 0, true) == "stream was opened without a body")
        await scene.exchanges.next().finish()
      }
    }
  }

  @Test("only one call writes at a time, and only one reads")
  func oneAtATime() async throws {
    try await scene { scene in
      let stream = try await opened(scene)
      async let first = stream.write([1], at: 0, isLast: false)
      let exchange = await scene.exchanges.next()
      #expect(try await first == 1)
      exchange.hold()
      async let second = stream.write([2], at: 1, isLast: false)
      await exchange.wait(until: \.isAwaited)
      #expect(
        await failure { try await stream.write([2], at: 1, isLast: false) }
          == .invalidParams("stream is busy: another call is writing a piece of the body"))
      exchange.answer(200)
      exchange.hold(false)
      #expect(try await second == 2)
      #expect(try await status(stream.read()) == 200)
      exchange.hold()
      async let reading = stream.read()
      await exchange.wait(until: \.isAwaited)
      #expect(
        await failure { try await stream.read() }
          == .invalidParams("stream is busy: another call is reading the response"))
      exchange.bring([1])
      #expect(try await piece(reading) == [1])
    }
  }
}
