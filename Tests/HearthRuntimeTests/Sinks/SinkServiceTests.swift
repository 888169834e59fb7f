import HearthControl
import HearthCore
import HearthRuntime
import Logging
import TestSupport
import Testing

@Suite("Token files of a session", .timeLimit(.minutes(1)))
struct SinkServiceTests {
  private let clock = ManualClock()
  private let store: MemoryCredentialStore
  private let sessions = SessionDirectory()
  private let endpoint = ScriptedTokenEndpoint()
  private let log = LogRecorder()
  private let record: MemorySinkRecord
  private let files: MemorySinkFiles
  private let sinks: SinkService
  private let path = "/run/token"

  init() { self.init(left: [:]) }

  /// `left`: what a crash has left, and is written down.
  private init(left: [String: String], idToken: Token? = nil) {
    var credential = Credential.sample(1, issuedAt: clock.now())
    credential.grant.idToken = idToken
    store = MemoryCredentialStore(.grant(credential))
    record = MemorySinkRecord(Set(left.keys))
    files = MemorySinkFiles(left)
    sinks = SinkService(sessions: sessions, record: record, clock: clock, logger: log.logger) { [files] _, _ in files }
  }

  private var sink: SinkSettings { SinkSettings(account: .sample, path: path) }

  /// Runs the sinks, and a session that is signed in with token 1.
  private func running(_ settings: [SinkSettings]? = nil, _ body: (SessionService) async throws -> Void) async throws {
    let service = SessionService(
      account: .sample, settings: .obeyingEveryLock, store: store, endpoint: endpoint, clock: clock,
      logger: .silent, seed: 1, publish: { [sinks] _, status in sinks.sessionChanged(status.account, status.state) })
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { [sessions] in await sessions.run() }
      group.addTask { [sinks] in await sinks.run() }
      sinks.configure(settings ?? [sink])
      await sessions.add(SessionDirectory.Entry(service: service, signIn: ScriptedSignInEndpoint()))
      _ = await service.call(.awaitReading)
      await sinks.waitUntilIdle()
      try await body(service)
      await sinks.stop()
      await sessions.stop(timeout: .zero)
    }
  }

  @Test("the file holds the session's token, is gone while it is locked and after the end, and the record follows")
  func follows() async throws {
    try await running { service in
      #expect(files.files == [path: "token-1"] && record.paths == [path])
      await service.lock(.user)
      await sinks.waitUntilIdle()
      #expect(files.files.isEmpty && record.paths.isEmpty)
      await service.change(.user, isSet: false)
      _ = await service.call(.awaitReading)
      await sinks.waitUntilIdle()
      #expect(files.files == [path: "token-1"])
    }
    #expect(files.files.isEmpty && record.paths.isEmpty, "an orderly stop")
  }

  @Test("a token is never written with another account's settings, however often the path changes hands")
  func changesHands() async throws {
    let theirs = SinkSettings(account: try #require(AccountName("other")), path: path, mode: 0o644)
    try await running { _ in
      for _ in 1...20 {
        sinks.configure([sink])
        sinks.configure([theirs])
        await sinks.waitUntilIdle()
      }
    }
    #expect(!files.puts.isEmpty && files.puts.allSatisfy { $0.account == .sample })
  }

  @Test("a token that has run out goes by the time alone")
  func expires() async throws {
    try await running { _ in
      let expiry = clock.now() + .seconds(3600)
      // The end of the wait for the session.
      clock.advance(by: .seconds(2))
      await clock.waitForSleeper(until: expiry)
      #expect(files.files == [path: "token-1"])
      // The session asks for another and is not answered, so that it has nothing to tell when the token runs out.
      clock.advance(by: .seconds(3500))
      await endpoint.waitForRequests(1)
      await sinks.waitUntilIdle()
      #expect(files.files == [path: "token-1"])
      clock.advance(by: .seconds(98))
      while !files.files.isEmpty { await Task.yield() }
      endpoint.answer(.failed(.unavailable(message: "503", retryAfter: nil)))
    }
  }

  @Test("what a crash has left at a path that is configured no more goes, and what nobody wrote down stays")
  func leftovers() async throws {
    let left = Self(left: ["/run/old": "token-0"])
    try await left.running([]) { _ in
      #expect(left.files.files.isEmpty && left.record.paths.isEmpty)
    }
    let foreign = MemorySinkFiles([path: "mine"])
    let sinks = SinkService(sessions: sessions, record: record, clock: clock, logger: log.logger) { _, _ in foreign }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await sinks.run() }
      sinks.configure([sink])
      sinks.sessionChanged(.sample, .unauthenticated(signedOut: true))
      await sinks.waitUntilIdle()
      await sinks.stop()
    }
    #expect(foreign.files == [path: "mine"])
  }

  @Test("the file that lies there stays on record however often the next one cannot be put in its place")
  func stillKnown() async throws {
    try await running { session in
      #expect(record.marks(at: path) == ["1"])
      files.failsToPut(with: .noSpace)
      async let refreshed = session.call(.refresh)
      await endpoint.waitForRequests(1)
      endpoint.answer(.granted(.sample(2)))
      _ = await refreshed
      for _ in 0..<3 {
        sinks.sessionChanged(.sample, .authenticated)
        await sinks.waitUntilIdle()
        clock.advance(by: .seconds(60))
        await sinks.waitUntilIdle()
      }
      #expect(record.marks(at: path)?.first == "1" && files.puts.count == 1)
      #expect((record.marks(at: path)?.count ?? 0) <= 2)
    }
  }

  @Test("a failure is logged once without the token, shown to the doctor, and over when it is over")
  func failure() async throws {
    files.fails(with: .noSpace)
    try await running { _ in
      var iterator = log.stream.makeAsyncIterator()
      let record = await iterator.next()
      #expect(
        record?.message == "Token file for work: There is no space left to write /run/token. Free some disk "
          + "space.")
      #expect(record?.level == .warning)
      let check = await sinks.checks(of: .sample)
      #expect(
        check == [
          Diagnosis(.sink, .problem, "There is no space left to write /run/token. Free some disk space.", path: path)
        ])
      files.fails(with: nil)
      await clock.waitForSleeper(until: clock.now() + .seconds(1))
      clock.advance(by: .seconds(1))
      #expect(await iterator.next()?.message == "Token file for work: The problem with /run/token is solved.")
      #expect(files.files == [path: "token-1"])
      #expect(
        await sinks.checks(of: .sample)
          == [Diagnosis(.sink, .ok, "/run/token contains token 00000001.", path: path)])
    }
  }

  @Test("a token is not written before it is written down that the file is Hearth's")
  func unrecorded() async throws {
    record.fails(with: AccessFailure(.storageError, detail: "full"))
    try await running { _ in
      #expect(files.files.isEmpty)
      #expect(await sinks.checks(of: .sample).first?.message.contains("has not written") == true)
    }
  }

  @Test("two paths that lead to one file are one sink and a failure, and the one's file is not the other's to remove")
  func shared() async throws {
    files.link("/link", to: "/run")
    let second = SinkSettings(account: .sample, path: "/link/token", format: .header)
    try await running { _ in
      sinks.configure([sink, second])
      await sinks.waitUntilIdle()
      #expect(files.files == [path: "token-1"] && record.paths == [path])
      #expect(
        await sinks.checks(of: .sample).first
          == Diagnosis(
            .sink, .problem,
            "/link/token is the same file as /run/token, which another sink writes to. Choose another "
              + "path.",
            path: "/link/token"))
      sinks.configure([sink])
      await sinks.waitUntilIdle()
      #expect(files.files == [path: "token-1"], "what is configured no more takes nothing along")
      sinks.configure([])
      await sinks.waitUntilIdle()
      sinks.configure([second])
      await sinks.waitUntilIdle()
      #expect(files.files == [path: "Authorization: Bearer token-1\n"])
    }
  }

  @Test("a sink can hold the grant's ID token until it expires, and reports when there is none")
  func idToken() async throws {
    let expiry = Timestamp(milliseconds: (clock.now() + .seconds(600)).milliseconds / 1000 * 1000)
    let payload = Base64.encode(Array(#"{"exp":\#(expiry.milliseconds / 1000)}"#.utf8)).replacing("=", with: "")
    let secret = "e30.\(payload).e30"
    let idToken = Token(secret: Secret(secret), fingerprint: try #require(Fingerprint("1d1d1d1d")))
    let scene = Self(left: [:], idToken: idToken)
    let sinks = [
      SinkSettings(account: .sample, path: path, bearer: .idToken), SinkSettings(account: .sample, path: "/b"),
    ]
    try await scene.running(sinks) { _ in
      #expect(scene.files.files == [path: secret, "/b": "token-1"])
      scene.clock.advance(by: .seconds(2))
      await scene.clock.waitForSleeper(until: expiry)
      scene.clock.advance(by: expiry - scene.clock.now())
      while scene.files.files[path] != nil { await Task.yield() }
      await scene.sinks.waitUntilIdle()
      #expect(scene.files.files == ["/b": "token-1"])
      let check = await scene.sinks.checks(of: .sample).last
      #expect(check?.verdict == .problem && check?.message.contains("no valid ID token") == true)
    }
  }

  @Test("a file that is written in place is empty without a token, and is filled again when there is one")
  func inPlace() async throws {
    let sink = SinkSettings(account: .sample, path: path, isInPlace: true)
    try await running([sink]) { service in
      #expect(files.files == [path: "token-1"])
      await service.lock(.user)
      await sinks.waitUntilIdle()
      #expect(files.files == [path: ""])
      await service.change(.user, isSet: false)
      _ = await service.call(.awaitReading)
      await sinks.waitUntilIdle()
      #expect(files.files == [path: "token-1"])
    }
    #expect(files.files == [path: ""], "an orderly stop")
  }

  @Test("two accounts keep their lines in one netrc file, each with its own record")
  func netrc() async throws {
    let netrc = SinkSettings.Netrc(hosts: ["x.example.com"], login: "ada")
    let other = try #require(AccountName("other"))
    let both = [AccountName.sample, other].map {
      SinkSettings(account: $0, path: path, format: .netrc, netrc: netrc)
    }
    try await running(both) { _ in
      #expect(files.puts.map(\.account) == [.sample] && record.paths == ["netrc:work:/run/token"])
      #expect(await sinks.checks(of: .sample).first?.message == "/run/token contains token 00000001.")
      #expect(
        await sinks.checks(of: other).first?.message == "Hearth will write /run/token as soon as there is a token.")
    }
    #expect(record.paths.isEmpty)
  }

  @Test("a header is one line, and JSON is what a call for the token is answered")
  func formats() async throws {
    let all = SinkSettings.Format.allCases.map {
      SinkSettings(account: .sample, path: "/run/\($0.rawValue)", format: $0)
    }
    try await running(all) { _ in
      #expect(files.files["/run/token"] == "token-1")
      #expect(files.files["/run/header"] == "Authorization: Bearer token-1\n")
      let expiry = clock.now() + .seconds(3600)
      #expect(
        files.files["/run/json"]
          == #"{"account":"work","accessToken":"token-1","tokenType":"Bearer","expiresAt":"\#(expiry)","fingerprint":"00000001","subject":"2482","issuer":"https://id.example.com"}"#
          + "\n")
    }
  }
}
