import HearthControl
import HearthCore
import TestSupport
import Testing

@testable import HearthRuntime

@Suite("Requests whose bodies go in pieces", .timeLimit(.minutes(1))) struct RequestStreamTests {
  private let bearers = ScriptedBearerTokenProvider(subject: Sample.alice, refusals: 1)
  private let clock = ManualClock()
  private let connection = ConnectionID(1)

  private struct Scene {
    let service: StreamService
    let requests: RequestService
    let exchanges: ScriptedExchanges
  }

  private func scene(_ body: (Scene) async throws -> Void) async throws {
    let requests = RequestService(
      bearers: bearers, api: ScriptedAPIEndpoint(), store: MemoryResponseStore(), clock: clock)
    await requests.accountsChanged([Sample.work: [Sample.origin]], maxBody: 100)
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

  private func draft(_ method: String = "POST", timeout: Duration = .seconds(30)) -> RequestDraft {
    RequestDraft(account: Sample.work, method: method, url: "\(Sample.origin)/a", timeout: timeout)
  }

  private func opened(_ scene: Scene, _ upload: APIRequest.Upload? = .chunked) async throws(RequestFailure) -> RequestStream {
    try await scene.service.open(draft(upload == nil ? "GET" : "POST"), upload, on: connection)
  }

  private func failure<Value>(of body: () async throws(RequestFailure) -> Value) async -> RequestFailure? {
    do throws(RequestFailure) {
      _ = try await body()
      return nil
    } catch {
      return error
    }
  }

  /// Moves the time on as far as the stream's next look.
  private func pass(_ duration: Duration) async {
    await clock.waitForSleeper(until: clock.now() + duration)
    clock.advance(by: duration)
  }

  private func status(_ reading: RequestStream.Reading) -> Int? {
    if case .head(let response, _) = reading { response.status } else { nil }
  }

  private func piece(_ reading: RequestStream.Reading) -> [UInt8]? {
    if case .piece(let piece) = reading { piece } else { nil }
  }

  private func isRewind(_ reading: RequestStream.Reading) -> Bool {
    if case .rewind = reading { true } else { false }
  }

  private func isEnd(_ reading: RequestStream.Reading) -> Bool {
    if case .end = reading { true } else { false }
  }

  private let gone = RequestFailure.invalidRequest("stream: there is no stream \"1\" on this connection")

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
      #expect(await failure { () async throws(RequestFailure) in try await stream.read() } == gone)
      #expect(exchange.cancelled == "nobody waits for the answer" || exchange.cancelled == nil)
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
          guard case .head(let response, let url) = try await reading else {
            Issue.record("there is no answer")
            return
          }
          #expect(response.status == 200 && url.target == "/b")
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
      #expect(await failure { () async throws(RequestFailure) in try await opened(scene) } == .noSession)
      bearers.set(failure: nil)
      let stream = try await opened(scene, nil)
      let exchange = await scene.exchanges.next()
      async let reading = failure { () async throws(RequestFailure) in try await stream.read() }
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
      async let reading = failure { () async throws(RequestFailure) in try await stream.read() }
      bearers.set(subject: Sample.bob)
      exchange.answer(401)
      #expect(await reading == .otherUser)
    }
  }

  // MARK: - What ends it

  @Test("a lock, a sign-out and another user end it, for who waits and for who calls next")
  func sessionChanged() async throws {
    let locked = SessionState.locked(.explicit(.user))
    let changes: [(SessionState, Subject?, RequestFailure)] = [
      (locked, Sample.alice, .withheld(locked)),
      (.unauthenticated(signedOut: true), nil, .withheld(.unauthenticated(signedOut: true))),
      (.authenticated, Sample.bob, .otherUser),
    ]
    for (state, subject, wanted) in changes {
      for isWaiting in [true, false] {
        try await scene { scene in
          let stream = try await opened(scene, nil)
          let exchange = await scene.exchanges.next()
          exchange.answer(200)
          #expect(try await status(stream.read()) == 200)
          async let waited = isWaiting ? failure { () async throws(RequestFailure) in try await stream.read() } : wanted
          if isWaiting { await exchange.wait(until: \.isAwaited) }
          await scene.service.sessionChanged(Sample.other, state, subject)
          #expect(!exchange.isCancelled, "it is another account")
          await scene.service.sessionChanged(Sample.work, .authenticated, Sample.alice)
          #expect(!exchange.isCancelled, "nothing has changed")
          await scene.service.sessionChanged(Sample.work, state, subject)
          #expect(exchange.isCancelled)
          #expect(await waited == wanted)
          let next = await failure { () async throws(RequestFailure) in try await stream.read() }
          #expect(next == wanted)
        }
      }
    }
  }

  @Test("a reload that takes its origin away, or its account, ends it")
  func reloaded() async throws {
    let changes: [([AccountName: APISettings], RequestFailure)] = [
      ([:], .unknownAccount(Sample.work)),
      ([Sample.work: [Sample.secondOrigin]], .originNotAllowed(Sample.origin)),
    ]
    for (apis, wanted) in changes {
      try await scene { scene in
        let stream = try await opened(scene, nil)
        let exchange = await scene.exchanges.next()
        await scene.service.accountsChanged([Sample.work: [Sample.origin]])
        #expect(!exchange.isCancelled)
        await scene.service.accountsChanged(apis)
        #expect(exchange.isCancelled)
        #expect(await failure { () async throws(RequestFailure) in try await stream.read() } == wanted)
      }
    }
  }

  @Test("it is known on its own connection alone, and ends with it")
  func connections() async throws {
    try await scene { scene in
      let stream = try await opened(scene, nil)
      let exchange = await scene.exchanges.next()
      #expect(await scene.service.stream(stream.id, of: ConnectionID(2)) == nil)
      #expect(await scene.service.stream(stream.id, of: connection) === stream)
      scene.service.connectionLost(ConnectionID(2))
      async let reading = failure { () async throws(RequestFailure) in try await stream.read() }
      scene.service.connectionLost(connection)
      #expect(await reading == gone)
      #expect(exchange.isCancelled)
    }
  }

  @Test("when the daemon stops, who waits is told so, and no more are opened")
  func stopped() async throws {
    try await scene { scene in
      let stream = try await opened(scene)
      async let reading = failure { () async throws(RequestFailure) in try await stream.read() }
      async let writing = failure { () async throws(RequestFailure) in try await stream.write([1], at: 0, isLast: false) }
      let exchange = await scene.exchanges.next()
      exchange.hold()
      await exchange.wait(until: \.isAwaited)
      await scene.service.stop()
      #expect(await reading == .stopping)
      #expect(await writing == .stopping)
      #expect(await failure { () async throws(RequestFailure) in try await opened(scene) } == .stopping)
    }
  }

  @Test("it counts among the requests that are under way, until it is over")
  func atOnce() async throws {
    try await scene { scene in
      var streams: [RequestStream] = []
      for _ in 1...RequestService.mostAtOnce { streams.append(try await opened(scene)) }
      let most = RequestFailure.tooMany(RequestService.mostAtOnce)
      #expect(await failure { () async throws(RequestFailure) in try await opened(scene) } == most)
      let request = draft("GET")
      #expect(
        await failure { () async throws(RequestFailure) in try await scene.requests.answer(to: request) } == most)
      await streams.removeLast().close()
      // Its place is free once it has ended, which nobody is told.
      while await failure(of: { () async throws(RequestFailure) in try await opened(scene) }) == most { await Task.yield() }
    }
  }

  // MARK: - Time

  @Test("a client that leaves it alone for five minutes finds it closed")
  func idle() async throws {
    try await scene { scene in
      let stream = try await opened(scene, nil)
      let exchange = await scene.exchanges.next()
      exchange.answer(200)
      #expect(try await status(stream.read()) == 200)
      for _ in 1...9 { await pass(.seconds(30)) }
      await clock.waitForSleeper(until: clock.now() + .seconds(30))
      #expect(!exchange.isCancelled)
      clock.advance(by: .seconds(30))
      await exchange.wait(until: \.isCancelled)
      #expect(await failure { () async throws(RequestFailure) in try await stream.read() } == gone)
    }
  }

  @Test("an API that answers nothing within the time is given up, as of any request")
  func unanswered() async throws {
    try await scene { scene in
      let stream = try await opened(scene)
      async let first = stream.write([1], at: 0, isLast: true)
      let exchange = await scene.exchanges.next()
      #expect(try await first == nil)
      async let reading = failure { () async throws(RequestFailure) in try await stream.read() }
      while await !stream.isReading { await Task.yield() }
      await pass(.seconds(30))
      #expect(
        await reading
          == .unanswered(
            message: "no answer within 30.0 seconds. Nothing tells whether the API did what the request asks."))
      #expect(exchange.isCancelled)
    }
  }

  @Test("an API that takes nothing of the body is given up, and one that takes it slowly is not")
  func untaken() async throws {
    try await scene { scene in
      let stream = try await opened(scene)
      async let first = stream.write([1], at: 0, isLast: false)
      let exchange = await scene.exchanges.next()
      #expect(try await first == 1)
      exchange.hold()
      async let writing = failure { () async throws(RequestFailure) in try await stream.write([2], at: 1, isLast: false) }
      await exchange.wait(until: \.isAwaited)
      await clock.waitForSleeper(until: clock.now() + .seconds(30))
      clock.advance(by: .seconds(20))
      exchange.move()
      clock.advance(by: .seconds(10))
      await clock.waitForSleeper(until: clock.now() + .seconds(20))
      #expect(!exchange.isCancelled)
      clock.advance(by: .seconds(20))
      await exchange.wait(until: \.isCancelled)
      let told = await writing
      #expect(exchange.cancelled == "nothing of the body was taken within 30.0 seconds")
      if case .unanswered? = told {} else { Issue.record("\(String(describing: told))") }
    }
  }

  @Test("an answer that stops coming, or breaks off, is told to be only a beginning")
  func brokenOff() async throws {
    let rest = "What was given of the answer is only its beginning."
    for isSlow in [true, false] {
      try await scene { scene in
        let stream = try await opened(scene, nil)
        let exchange = await scene.exchanges.next()
        exchange.answer(200)
        exchange.bring([1])
        #expect(try await status(stream.read()) == 200)
        #expect(try await piece(stream.read()) == [1])
        async let reading = failure { () async throws(RequestFailure) in try await stream.read() }
        await exchange.wait(until: \.isAwaited)
        if isSlow { await pass(.seconds(30)) } else { exchange.fail(.unanswered(message: "It broke off")) }
        let reason = isSlow ? "no more of the answer came within 30.0 seconds" : "It broke off"
        #expect(await reading == .unanswered(message: "\(reason). \(rest)"))
      }
    }
  }

  @Test("the time in which the client is slow is not the API's")
  func slowClient() async throws {
    try await scene { scene in
      let stream = try await opened(scene)
      async let reading = stream.read()
      while await !stream.isReading { await Task.yield() }
      async let first = stream.write([1], at: 0, isLast: false)
      let exchange = await scene.exchanges.next()
      #expect(try await first == 1)
      for _ in 1...4 { await pass(.seconds(30)) }
      #expect(!exchange.isCancelled, "the rest of the body is the client's to bring")
      #expect(try await stream.write([2], at: 1, isLast: true) == nil)
      exchange.answer(200)
      #expect(try await status(reading) == 200)
    }
  }

  // MARK: - What is refused

  @Test("a piece that is too long, does not fit the length, or belongs to no body is refused, and changes nothing")
  func refused() async throws {
    try await scene { scene in
      func refusal(_ stream: RequestStream, _ piece: [UInt8], _ offset: Int, _ isLast: Bool) async -> String? {
        let told = await failure { () async throws(RequestFailure) in
          try await stream.write(piece, at: offset, isLast: isLast)
        }
        if case .invalidRequest(let why)? = told { return why } else { return nil }
      }
      let stream = try await opened(scene, .sized(3))
      let long = [UInt8](repeating: 0, count: APIRequest.pieceLimit + 1)
      #expect(await refusal(stream, long, 0, false) == "data: a piece has at most 262144 bytes")
      #expect(
        await refusal(stream, [1, 2, 3, 4], 0, false)
          == "data: the body is longer than the 3 bytes that it was opened with")
      #expect(
        await refusal(stream, [], .max, false) == "data: the body is longer than the 3 bytes that it was opened with")
      #expect(
        await refusal(stream, [1], 0, true) == "end: the body is shorter than the 3 bytes that it was opened with")
      #expect(try await stream.write([1], at: 2, isLast: false) == 0)
      async let first = stream.write([1, 2], at: 0, isLast: false)
      let exchange = await scene.exchanges.next()
      #expect(try await first == 2)
      #expect(try await stream.write([9], at: 0, isLast: false) == 2, "it was taken already")
      #expect(exchange.written == [1, 2])
      for upload in [nil, .sized(0)] as [APIRequest.Upload?] {
        let other = try await opened(scene, upload)
        #expect(await refusal(other, [], 0, true) == "stream: the request was opened without a body")
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
        await failure { () async throws(RequestFailure) in try await stream.write([2], at: 1, isLast: false) }
          == .invalidRequest("stream: another piece of the body is being written"))
      exchange.answer(200)
      exchange.hold(false)
      #expect(try await second == 2)
      #expect(try await status(stream.read()) == 200)
      exchange.hold()
      async let reading = stream.read()
      await exchange.wait(until: \.isAwaited)
      #expect(
        await failure { () async throws(RequestFailure) in try await stream.read() }
          == .invalidRequest("stream: another call reads the answer"))
      exchange.bring([1])
      #expect(try await piece(reading) == [1])
    }
  }
}
