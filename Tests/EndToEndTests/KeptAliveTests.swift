import Glibc
import HearthControl
import TestSupport
import Testing

@Suite("A session is kept alive", .serialized, .mayBlock) struct KeptAliveTests {
  @Test("its token is refreshed ahead of expiry, three times, with nobody asking")
  func ahead() async throws {
    // A token is due 57 s before it expires, which leaves a slow machine its time.
    let refresh = "[refresh]\nmargin_fraction = 0.95\njitter = 0\n"
    try await TestEnvironment.session(refresh, sandbox: ["--token-lifetime", "60"]) { _, sandbox, daemon in
      var events = try daemon.events("session")
      var expiry = try #require(events.snapshot["sessions"]?[0]?["token"]?["expiresAt"]?.string)
      for _ in 1...3 {
        let event = try events.nextOfAny()
        #expect(event.method == "session.refreshed", "the session's state does not change meanwhile")
        let time = try #require(event.params["time"]?.string)
        #expect(time < expiry, "the new token is there before the old one has run out")
        expiry = try #require(event.params["expiresAt"]?.string)
      }
      let status = try daemon.status()
      #expect(status.state == "authenticated" && status.token?.health != "expired")
      #expect(try sandbox.refreshes() >= 4 && sandbox.count("reuseDetected") == 0)
    }
  }

  @Test("fifty callers with an expired token get the same new one, from one refresh")
  func fiftyCallers() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try Daemon(on: environment, configuration: Configuration.oidc(sandbox))
      try Files.makeFolder(daemon.state)
      try Files.makeFolder(daemon.credentials)
      try Files.write(
        CredentialText.grant(try sandbox.grant(), of: sandbox, lifetime: -10), to: daemon.credential())
      try sandbox.hold("/token")
      try daemon.start()
      let callers = try (0..<50).map { _ in
        let link = try RawLink(daemon.socket)
        link.send(RawLink.line("session.getToken", #"{"account":"work"}"#))
        // The daemon reads calls in their order: when it answers this one, it has the other.
        #expect(try link.ask("daemon.getInfo", "{}").contains("startedAt"))
        return link
      }
      try sandbox.waitUntilHeld()
      try sandbox.release()
      let tokens = try callers.map { try RawLink.text("accessToken", in: $0.receive() ?? "") }
      #expect(Set(tokens).count == 1)
      #expect(try sandbox.count("tokenCalls") == 1)
    }
  }

  @Test("a rotated grant outlives a crash: the daemon goes on with it, and no rotated token is sent again")
  func crash() async throws {
    try await TestEnvironment.session(sandbox: ["--grace", "0"]) { _, sandbox, daemon in
      for _ in 1...3 {
        try daemon.refresh()
        let before = try daemon.token()
        try daemon.crash()
        try daemon.start()
        #expect(try daemon.waitFor("authenticated").token?.fingerprint == before.fingerprint)
        #expect(try daemon.token().secret == before.secret)
      }
      try daemon.refresh()
      #expect(try sandbox.count("reuseDetected") == 0)
    }
  }

  @Test("a crash between rotation and answer costs nothing while the provider's grace window is open")
  func crashInFlight() async throws {
    try await TestEnvironment.session(sandbox: ["--grace", "60"]) { _, sandbox, daemon in
      try sandbox.fault(["path": "/token", "hang": true, "handle": true, "times": 1])
      let socket = daemon.socket
      async let refresh = Daemon.refresh(at: socket)
      try eventually("the provider has rotated") { try sandbox.refreshes() == 2 }
      try daemon.crash()
      _ = try? await refresh
      try daemon.start()
      try daemon.refresh()
      #expect(try daemon.status().state == "authenticated")
      #expect(try sandbox.count("graceReuses") == 1 && sandbox.count("reuseDetected") == 0)
    }
  }

  @Test("SIGTERM lets a refresh in flight land: what the provider rotated is on disk, and the exit is clean")
  func stopInFlight() async throws {
    try await TestEnvironment.session(sandbox: ["--grace", "0"]) { _, sandbox, daemon in
      try sandbox.hold("/token")
      let socket = daemon.socket
      async let refresh = Daemon.refresh(at: socket)
      try sandbox.waitUntilHeld()
      try daemon.beginStopping()
      try sandbox.release()
      #expect(try daemon.process?.wait() == .exited(0))
      _ = try? await refresh
      #expect(try sandbox.refreshes() == 2)
      try daemon.start()
      try daemon.refresh()
      #expect(try sandbox.refreshes() == 3 && sandbox.count("reuseDetected") == 0)
    }
  }

  @Test("a client's 401 costs one refresh, however often it is reported, and none when the token is an older one")
  func unauthorized() async throws {
    try await TestEnvironment.session { _, sandbox, daemon in
      let first = try daemon.token()
      try sandbox.expire()
      try sandbox.forgetStats()
      for _ in 1...3 {
        let status = try daemon.call(
          "session.reportUnauthorized", ["account": "work", "fingerprint": .string(first.fingerprint)])
        #expect(status["state"] == "authenticated")
      }
      #expect(try daemon.token().secret != first.secret)
      #expect(try sandbox.count("tokenCalls") == 1)
    }
  }

  @Test(
    "a token that an API rejected is given to nobody after kill -9 either, until the provider replaces it",
    arguments: [false, true])
  func rejectedBeforeCrash(_ isRefreshFailing: Bool) async throws {
    try await TestEnvironment.session { _, sandbox, daemon in
      let first = try daemon.token()
      try sandbox.fault(["path": "/token", "status": 503])
      // Then the report is answered at once, without another refresh.
      if isRefreshFailing { #expect(try daemon.refusal(of: "session.refresh", ["account": "work"]).code == 1004) }
      try daemon.call(
        "session.reportUnauthorized", ["account": "work", "fingerprint": .string(first.fingerprint)])
      for isRestart in [false, true] {
        if isRestart {
          try daemon.crash()
          try daemon.start()
        }
        #expect(try daemon.refusal(of: "session.getToken", ["account": "work"]).code == 1004)
        let status = try daemon.status()
        #expect(status.state == "authenticated" && status.token?.health == "expired")
      }
      try sandbox.clearFaults()
      try eventually("the provider replaces it") { (try? daemon.token().secret).map { $0 != first.secret } ?? false }
    }
  }

  @Test("a 401 to the token that was just brought by a 401 ends the session: rejectedByServer")
  func unauthorizedAgain() async throws {
    try await TestEnvironment.session { _, _, daemon in
      for _ in 1...2 {
        let fingerprint = try daemon.token().fingerprint
        try daemon.call(
          "session.reportUnauthorized", ["account": "work", "fingerprint": .string(fingerprint)])
      }
      try daemon.waitFor("reauthRequired", "rejectedByServer")
      #expect(try daemon.refusal(of: "session.getToken", ["account": "work"]).code == 1002)
    }
  }
}
