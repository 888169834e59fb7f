import HearthControl
import HearthCore
import TestSupport
import Testing

@testable import HearthRuntime

extension RequestStreamTests {
  @Test("a lock, a sign-out and another user end it, for who waits and for who calls next")
  func sessionChanged() async throws {
    func status(_ state: SessionState, _ subject: Subject?, of account: AccountName = Sample.work) -> SessionStatus {
      var status = SessionStatus(
        account: account, state: state, message: "The state.", since: Sample.start, isReadable: true)
      status.subject = subject
      return status
    }
    let changes: [(SessionState, Subject?, Failure.Kind)] = [
      (.locked(.explicit(.user)), Sample.alice, .locked), (.unauthenticated(signedOut: true), nil, .unauthenticated),
      (.authenticated, Sample.bob, .reauthRequired),
    ]
    for (state, subject, wanted) in changes {
      for isWaiting in [true, false] {
        try await scene { scene in
          let stream = try await opened(scene, nil)
          let exchange = await scene.exchanges.next()
          exchange.answer(200)
          #expect(try await self.status(stream.read()) == 200)
          async let waited = isWaiting ? failure { try await stream.read() }?.kind : wanted
          if isWaiting { await exchange.wait(until: \.isAwaited) }
          await scene.service.sessionChanged(status(state, subject, of: Sample.other))
          #expect(!exchange.isCancelled, "it is another account")
          await scene.service.sessionChanged(status(.authenticated, Sample.alice))
          await scene.service.sessionChanged(status(.hydrating, nil))
          var renamed = status(.authenticated, Sample.bob)
          renamed.formerSubject = Sample.alice
          await scene.service.sessionChanged(renamed)
          #expect(!exchange.isCancelled, "nothing has changed, or the same user has another subject")
          await scene.service.sessionChanged(status(state, subject))
          #expect(exchange.isCancelled)
          #expect(await waited == wanted)
          #expect(await failure { try await stream.read() }?.kind == wanted)
        }
      }
    }
  }

  @Test("a reload that takes its origin away, or its account, ends it")
  func reloaded() async throws {
    let changes: [([AccountName: APISettings], Failure)] = [
      ([:], .unknownAccount(Sample.work)),
      ([Sample.work: [Sample.secondOrigin]], .originNotAllowed(Sample.origin, Sample.work)),
    ]
    for (apis, wanted) in changes {
      try await scene { scene in
        let stream = try await opened(scene, nil)
        let exchange = await scene.exchanges.next()
        await scene.service.accountsChanged()
        #expect(!exchange.isCancelled)
        scene.requests.access.change(to: apis)
        await scene.service.accountsChanged()
        #expect(exchange.isCancelled)
        #expect(await failure { try await stream.read() } == wanted)
      }
    }
  }

  @Test("it is known on its own connection alone, and ends with it")
  func connections() async throws {
    try await scene { scene in
      let stream = try await opened(scene, nil)
      let exchange = await scene.exchanges.next()
      #expect(await failure { try await scene.service.stream(stream.id, of: ConnectionID(2)) } == gone)
      #expect(try await scene.service.stream(stream.id, of: connection) === stream)
      scene.service.connectionLost(ConnectionID(2))
      async let reading = failure { try await stream.read() }
      scene.service.connectionLost(connection)
      #expect(await reading == gone)
      #expect(exchange.isCancelled)
    }
  }

  @Test("when the daemon stops, who waits is told so, and no more are opened")
  func stopped() async throws {
    try await scene { scene in
      let stream = try await opened(scene)
      async let reading = failure { try await stream.read() }
      async let writing = failure { try await stream.write([1], at: 0, isLast: false) }
      let exchange = await scene.exchanges.next()
      exchange.hold()
      await exchange.wait(until: \.isAwaited)
      await scene.service.stop()
      #expect(await reading == .shuttingDown)
      #expect(await writing == .shuttingDown)
      #expect(await failure { try await opened(scene) } == .shuttingDown)
    }
  }

  @Test("it counts among the requests that are under way, until it is over")
  func atOnce() async throws {
    try await scene { scene in
      var streams: [RequestStream] = []
      for _ in 1...RequestPlaces.mostAtOnce { streams.append(try await opened(scene)) }
      let most = Failure.tooManyRequests(of: Sample.work)
      #expect(await failure { try await opened(scene) } == most)
      let request = draft("GET")
      #expect(
        await failure { try await scene.requests.answer(to: request) } == most)
      await streams.removeLast().close()
      // Its place is free once it has ended, which nobody is told.
      while await failure(of: { try await opened(scene) }) == most {
        await Task.yield()
      }
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
      #expect(await failure { try await stream.read() } == gone)
    }
  }

  @Test("an API that answers nothing within the time is given up, as of any request")
  func unanswered() async throws {
    try await scene { scene in
      let stream = try await opened(scene)
      async let first = stream.write([1], at: 0, isLast: true)
      let exchange = await scene.exchanges.next()
      #expect(try await first == nil)
      async let reading = failure { try await stream.read() }
      while await !stream.isReading { await Task.yield() }
      await pass(.seconds(30))
      #expect(
        await reading?.message
          == "no response within 30.0 seconds. It is unknown whether the request took effect.")
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
      async let writing = failure { try await stream.write([2], at: 1, isLast: false) }
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
      #expect(exchange.cancelled == "the API did not read the body within 30.0 seconds")
      #expect(told?.kind == .requestFailed)
    }
  }

  @Test("an answer that stops coming, or breaks off, is told to be only a beginning")
  func brokenOff() async throws {
    let rest = "Only part of the response was received."
    for isSlow in [true, false] {
      try await scene { scene in
        let stream = try await opened(scene, nil)
        let exchange = await scene.exchanges.next()
        exchange.answer(200)
        exchange.bring([1])
        #expect(try await status(stream.read()) == 200)
        #expect(try await piece(stream.read()) == [1])
        async let reading = failure { try await stream.read() }
        await exchange.wait(until: \.isAwaited)
        if isSlow { await pass(.seconds(30)) } else { exchange.fail(.unanswered(message: "It broke off")) }
        let reason = isSlow ? "the rest of the response did not arrive within 30.0 seconds" : "It broke off"
        #expect(await reading == Failure(.requestFailed, "\(reason). \(rest)", account: Sample.work))
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

  @Test("of 1,000 streams none is left, nor of their exchanges, whether they were read to the end or closed")
  func none() async throws {
    struct Weak {
      private(set) weak var object: AnyObject?
    }
    var seen: [Weak] = []
    try await scene { scene in
      for number in 0..<1000 {
        let stream = try await opened(scene, nil)
        let exchange = await scene.exchanges.next()
        exchange.answer(200)
        #expect(try await status(stream.read()) == 200)
        if number % 2 == 0 {
          exchange.finish()
          #expect(try await isEnd(stream.read()))
        } else {
          await stream.close()
        }
        seen += [Weak(object: stream), Weak(object: exchange)]
      }
    }
    #expect(seen.count == 2000 && seen.count { $0.object != nil } == 0)
  }
}
