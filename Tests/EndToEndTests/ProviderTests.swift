import Glibc
import HearthControl
import HearthCore
import TestSupport
import Testing

/// The library of faketime(1). Its own program would stand between the test and the process that it has to end.
private let faketime = Files.names(in: "/usr/lib").map { "/usr/lib/\($0)/faketime/libfaketime.so.1" }
  .first(where: Files.exists)

@Suite("A provider in trouble ends nothing", .serialized, .mayBlock) struct ProviderTests {
  enum Trouble: String, CaseIterable {
    case error500, busy429, webPage, redirect, moved, nonsense, unclear, hang, wrongClient

    func fault(elsewhere: Sandbox) -> JSON {
      switch self {
      case .error500: ["path": "/token", "status": 500, "echo": true]
      case .busy429: ["path": "/token", "status": 429, "headers": ["Retry-After": "1"]]
      case .webPage: ["path": "/token", "status": 200, "body": "<html>Log in</html>", "contentType": "text/html"]
      case .redirect: ["path": "/token", "redirect": .string(elsewhere.url + "/token")]
      case .moved: ["path": "/token", "status": 302, "redirect": .string(elsewhere.url + "/token")]
      case .nonsense: ["path": "/token", "status": 200, "body": #"{"hello":"world"}"#]
      case .unclear: ["path": "/token", "status": 400, "body": "no"]
      case .hang: ["path": "/token", "hang": true]
      case .wrongClient: ["path": "/token", "status": 401, "body": #"{"error":"invalid_client"}"#]
      }
    }
  }

  @Test(
    "whatever it answers, the session stays, says what is wrong, and goes on by itself", arguments: Trouble.allCases)
  func trouble(_ trouble: Trouble) async throws {
    let further = Configuration.impatient.replacing("\"10s\"", with: trouble == .hang ? "\"4s\"" : "\"10s\"")
    try await TestEnvironment.session(further) { environment, sandbox, daemon in
      let elsewhere = try environment.sandbox("elsewhere")
      let token = try daemon.token()
      try sandbox.fault(trouble.fault(elsewhere: elsewhere))
      // Whoever went there, by whatever method, would be given a token.
      try elsewhere.fault([
        "path": "/token", "status": 200, "body": #"{"access_token":"elsewhere","token_type":"Bearer","expires_in":60}"#,
      ])
      let refusal = try daemon.refusal(of: "session.refresh", ["account": "work"])
      #expect(refusal.code == 1004 && refusal.isRetryable)
      let status = try daemon.status()
      #expect(status.state == "authenticated" && status.refresh.failures > 0 && status.refresh.lastError != nil)
      #expect(status.action == (trouble == .wrongClient ? "fixConfiguration" : nil))
      let grant = try sandbox.grant()
      let failure = try daemon.refusal(
        of: "session.import",
        ["account": "work", "refreshToken": .string(grant.refreshToken), "replace": true])
      #expect(
        failure.code == 1004 && failure.data?["action"]?.string == status.action, "nor is one taken in: \(failure)")
      #expect(try daemon.token().secret == token.secret, "the token that is held is still served")
      if trouble == .redirect || trouble == .moved {
        // What the client does not send for want of a ticket is no redirect that it leaves alone.
        #expect(status.refresh.lastError?.contains("redirect") == true)
      }
      #expect(try elsewhere.count("tokenCalls") == 0, "a refresh token goes to no other place")
      try sandbox.clearFaults()
      try eventually("the session refreshes again") {
        (try? daemon.refresh()) != nil
      }
      #expect(try daemon.status().refresh.failures == 0)
      #expect(try sandbox.count("reuseDetected") == 0)
    }
  }

  @Test(
    "where machine and provider are an hour apart, either way, tokens are refreshed at the right moment",
    .enabled(if: faketime != nil, "a clock of one's own needs faketime, which is not installed here"),
    arguments: ["+3600s", "-3600s"])
  func wrongClock(offset: String) async throws {
    // Where FAKETIME_SHARED is not set, the library sets it, and Swift does not find the arguments behind the environment.
    let clock = ["LD_PRELOAD=\(try #require(faketime))", "FAKETIME=\(offset)", "FAKETIME_SHARED=none none"]
    try await TestEnvironment.run { environment in
      let sandbox = try Sandbox(
        on: environment, name: "sandbox", options: ["--token-lifetime", "60"], launcher: ["/usr/bin/env"] + clock)
      // A token is due 57 s before it expires, which leaves a slow machine its time.
      let daemon = try environment.daemon(
        Configuration.oidc(sandbox) + "[refresh]\nmargin_fraction = 0.95\njitter = 0\n")
      try daemon.signIn(at: sandbox)
      var events = try daemon.events("session")
      func time(_ json: JSON?) throws -> Timestamp { try #require(json?.string.flatMap { Timestamp(rfc3339: $0) }) }
      var expiry = try time(events.snapshot["sessions"]?[0]?["token"]?["expiresAt"])
      for _ in 1...2 {
        let event = try events.next("session.refreshed")
        let left = try expiry - time(event["time"])
        #expect(left > .zero && left <= .seconds(57), "neither too late nor before it is due")
        expiry = try time(event["expiresAt"])
      }
      #expect(daemon.process?.errors.contains("s apart") == true, "and it says that a clock is wrong")
    }
  }

  @Test("an answer that was lost after the provider rotated is asked for once more, at once")
  func lostReply() async throws {
    try await TestEnvironment.session { _, sandbox, daemon in
      try sandbox.fault(["path": "/token", "drop": true, "times": 1])
      try daemon.refresh()
      let status = try daemon.status()
      #expect(status.state == "authenticated" && status.refresh.failures == 0)
      #expect(try sandbox.count("graceReuses") == 1 && sandbox.count("reuseDetected") == 0)
    }
  }

  @Test("while one account's provider hangs, the other's tokens come at once")
  func twoAccounts() async throws {
    try await TestEnvironment.run { environment in
      let (hanging, healthy) = (try environment.sandbox("hanging"), try environment.sandbox("healthy"))
      let daemon = try environment.daemon(
        Configuration.oidc(hanging, account: "slow") + Configuration.oidc(healthy, account: "quick")
          + "[refresh]\nrequest_timeout = \"10m\"\n")
      try daemon.signIn("slow", at: hanging)
      try daemon.signIn("quick", at: healthy)
      try hanging.hold("/token")
      let socket = daemon.socket
      async let stuck = Daemon.refresh(at: socket, "slow")
      try hanging.waitUntilHeld()
      for _ in 1...5 {
        try daemon.refresh("quick")
        _ = try daemon.token("quick")
      }
      #expect(try hanging.count("held") == 1, "the other refresh is still under way")
      try hanging.release()
      _ = try await stuck
    }
  }

  @Test("a provider that stops in the middle of a refresh is asked again once it is back")
  func stopped() async throws {
    try await TestEnvironment.session(Configuration.impatient) { _, sandbox, daemon in
      try sandbox.hold("/token", ["times": 1])
      let socket = daemon.socket
      async let refresh = Daemon.refresh(at: socket)
      try sandbox.waitUntilHeld()
      try sandbox.stop()
      _ = try? await refresh
      try sandbox.start()
      try eventually("the session refreshes again") { (try? daemon.refresh()) != nil }
      #expect(try sandbox.count("held") == 0 && sandbox.count("reuseDetected") == 0)
    }
  }

  @Test("an account that is new to the configuration waits for no refresh of one that is removed")
  func newBesideRemoved() async throws {
    try await TestEnvironment.run { environment in
      let (own, other) = (try environment.sandbox("own"), try environment.sandbox("other"))
      let daemon = try environment.daemon(Configuration.oidc(own, account: "one"))
      try daemon.signIn("one", at: own)
      try own.fault(["path": "/token", "hang": true, "times": 1])
      let socket = daemon.socket
      async let refresh = Daemon.refresh(at: socket, "one")
      try eventually("the refresh is in flight") { try own.count("tokenCallsInFlight") == 1 }
      try daemon.configure(Configuration.oidc(other, account: "two"))
      daemon.process?.signal(SIGHUP)
      try eventually("the new account is there") { (try? daemon.status("two")) != nil }
      try daemon.signIn("two", at: other)
      #expect(try daemon.token("two").secret != "")
      try daemon.enqueue("note", to: other.notes, ["account": "two"])
      try other.waitUntilWritten(["note"])
      #expect(try own.count("tokenCallsInFlight") == 1, "the other refresh is still under way")
      try daemon.crash()
      _ = try? await refresh
    }
  }

  @Test("a grant is sent to no other origin than its own when the configuration is pointed elsewhere")
  func origin() async throws {
    try await TestEnvironment.run { environment in
      let (own, other) = (try environment.sandbox("own"), try environment.sandbox("other"))
      let daemon = try environment.daemon(Configuration.oauth2(own))
      try daemon.signIn(at: own)
      try daemon.configure(Configuration.oauth2(other))
      try daemon.call("daemon.reload")
      try daemon.waitFor("authenticated")
      #expect(try daemon.refusal(of: "session.refresh", ["account": "work"]).code == 1004)
      #expect(try daemon.status().action == "fixConfiguration")
      #expect(try other.count("tokenCalls") == 0)
      try daemon.configure(Configuration.oauth2(own))
      try daemon.call("daemon.reload")
      try daemon.waitFor("authenticated")
      try daemon.refresh()
    }
  }

  @Test("so is one that was brought with its access token, and the status says so before anything is tried")
  func originOfImport() async throws {
    try await TestEnvironment.run { environment in
      let (own, other) = (try environment.sandbox("own"), try environment.sandbox("other"))
      for provider: (Sandbox) -> String in [{ Configuration.oauth2($0) }, { Configuration.oidc($0) }] {
        let daemon = try environment.daemon(provider(own))
        let grant = try own.grant()
        try daemon.call(
          "session.import",
          [
            "account": "work", "refreshToken": .string(grant.refreshToken), "accessToken": "opaque", "expiresIn": 3600,
            "replace": true,
          ])
        try daemon.configure(provider(other))
        for change in [{ _ = try daemon.call("daemon.reload") }, daemon.restart] {
          try change()
          let status = try daemon.waitUntil("the status asks to fix it") { $0.action == "fixConfiguration" }
          #expect(status.state == "authenticated" && status.refresh.failures == 0)
          #expect(status.message.contains(own.url) && status.message.contains(other.url))
        }
        #expect(try daemon.refusal(of: "session.refresh", ["account": "work"]).code == 1004)
        #expect(try other.count("tokenCalls") == 0)
        try daemon.configure(provider(own))
        try daemon.call("daemon.reload")
        try daemon.waitUntil("it is at home again") { $0.state == "authenticated" && $0.action == nil }
        try daemon.refresh()
        try daemon.stop()
      }
    }
  }

  @Test("a provider that cannot be asked is error 1004, which says when to try again")
  func cannotBeAsked() async throws {
    try await TestEnvironment.session(signsIn: false) { _, sandbox, daemon in
      let params: JSONObject = ["account": "work", "refreshToken": .string(try sandbox.grant().refreshToken)]
      for fault: JSON in [["path": "/token", "status": 503], ["path": "/token", "drop": true]] {
        try sandbox.fault(fault)
        let refusal = try daemon.refusal(of: "session.import", params)
        #expect(refusal.code == 1004 && refusal.retryAfterSeconds == 5, "\(refusal)")
        try sandbox.clearFaults()
      }
    }
  }

  @Test(
    "a token that would end the header it stands in, or is too long to be stored, is not taken",
    arguments: ["accessToken", "idToken", "refreshToken"])
  func controlCharacters(name: String) async throws {
    try await TestEnvironment.session(signsIn: false) { _, _, daemon in
      var params: JSONObject = ["account": "work", "accessToken": "abc"]
      params[name] = "abc\r\nX: y"
      let refusal = try daemon.refusal(of: "session.import", params)
      #expect(refusal.code == -32602 && refusal.message.contains(name) && !refusal.message.contains("abc"))
      params[name] = .string(String(repeating: "a", count: 128 << 10))
      try daemon.call("session.import", params)
      try daemon.waitUntil("the longest one is stored") { !$0.credential.pendingWrite }
      params[name] = .string(String(repeating: "a", count: (128 << 10) + 1))
      params["replace"] = true
      #expect(try daemon.refusal(of: "session.import", params).code == -32602)
      #expect(try daemon.status().state == "authenticated", "and takes the place of none")
    }
  }
}
