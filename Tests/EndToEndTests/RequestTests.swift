import FoundationEssentials
import Glibc
import HearthClient
import HearthControl
import HearthCore
import TestSupport
import Testing

@Suite("Requests to an API", .serialized, .mayBlock) struct RequestTests {
  private func params(_ sandbox: Sandbox, _ path: String = "/api/whoami", _ method: String = "GET") -> JSONObject {
    ["account": "work", "method": .string(method), "url": .string(sandbox.url + path)]
  }

  /// What a call is refused with that is under way at the API while `meanwhile` runs; nil where it is answered. `fault`:
  /// what the API does to it.
  private func refusal(
    _ sandbox: Sandbox, _ daemon: Daemon, _ fault: JSONObject = ["handle": true], while meanwhile: () throws -> Void
  ) throws -> RPCError? {
    var fault = fault
    fault["times"] = 1
    try sandbox.hold("/api/slow", fault)
    let link = try RawLink(daemon.socket)
    link.send(RawLink.line("http.request", JSON.object(params(sandbox, "/api/slow")).description))
    try sandbox.waitUntilHeld()
    try sandbox.forgetStats()
    try meanwhile()
    try sandbox.release()
    let answer = try JSON(parsing: Array((link.receive() ?? "null").utf8))
    return answer["error"].flatMap(RPCError.init)
  }

  @Test("a token that the API accepts no more costs one refresh, however many requests find out")
  func unauthorizedOnce() async throws {
    try await TestEnvironment.session(Configuration.impatient) { _, sandbox, daemon in
      try sandbox.expire()
      try sandbox.forgetStats()
      var client = try ControlClient(path: daemon.socket)
      let draft = RequestDraft(
        account: AccountName("work")!, method: "POST", url: sandbox.notes, body: Array("note".utf8))
      var calls: [BegunCall<SendRequest>] = []
      for _ in 1...8 { calls.append(try client.begin(SendRequest(draft))) }
      for call in calls {
        let answer = try client.response(to: call, within: .seconds(30))
        #expect(answer?.value.status == 200)
      }
      #expect(try sandbox.count("tokenCalls") == 1)
      #expect(try sandbox.written.count == 8)
    }
  }

  @Test("a request that the API refuses while the token is being refreshed is sent again with the new one")
  func whileRefreshing() async throws {
    try await TestEnvironment.session(Configuration.impatient) { _, sandbox, daemon in
      try sandbox.expire()
      try sandbox.hold("/token")
      var client = try ControlClient(path: daemon.socket)
      let account = AccountName("work")!
      let refresh = try client.begin(RefreshSession(account))
      try sandbox.waitUntilHeld()
      let draft = RequestDraft(account: account, method: "GET", url: sandbox.url + "/api/whoami")
      let request = try client.begin(SendRequest(draft))
      try eventually("the API has refused it") { try sandbox.count("unauthorized") == 1 }
      try sandbox.release()
      let answer = try client.response(to: request, within: .seconds(30))
      #expect(answer?.value.status == 200)
      let refreshed = try client.response(to: refresh, within: .seconds(30))
      #expect(refreshed != nil)
      #expect(try sandbox.refreshes() == 2, "the sign-in's and this one")
      #expect(try sandbox.count("unauthorized") == 1, "the old token is not sent again")
    }
  }

  @Test("the answer is kept back where the session is locked, signed out, or another user's by the time it comes")
  func changedMeanwhile() async throws {
    try await TestEnvironment.session(Configuration.impatient) { _, sandbox, daemon in
      let locked = try refusal(sandbox, daemon) { try daemon.call("session.lock") }
      #expect(locked?.code == 1003 && locked?.isRetryable == true)
      try daemon.call("session.unlock")
      try daemon.waitFor("authenticated")
      let out = try refusal(sandbox, daemon) { try daemon.call("session.signOut", ["account": "work"]) }
      #expect(out?.code == 1001)
      try daemon.signIn(at: sandbox)
      let other = try refusal(sandbox, daemon) {
        try daemon.call("session.signOut", ["account": "work"])
        try daemon.signIn(at: sandbox, subject: "other")
      }
      #expect(other?.code == 1002 && other?.message.contains("Another user") == true)
      #expect(try refusal(sandbox, daemon) {} == nil)
    }
  }

  @Test("a request that another user's sign-in overtakes is not repeated under their token")
  func otherUser() async throws {
    try await TestEnvironment.session(Configuration.impatient) { _, sandbox, daemon in
      let error = try refusal(sandbox, daemon, ["status": 401]) {
        try daemon.call("session.signOut", ["account": "work"])
        try daemon.signIn(at: sandbox, subject: "other")
      }
      #expect(error?.code == 1002)
      #expect(try sandbox.count("apiRequests") == 0, "only the one that failed was sent")
      #expect(try daemon.status().state == "authenticated")
    }
  }

  @Test("an origin that a reload takes away is asked nothing more, not by a redirect either")
  func reloaded() async throws {
    try await TestEnvironment.session(Configuration.impatient) { _, sandbox, daemon in
      let error = try refusal(sandbox, daemon, ["status": 302, "redirect": "/api/whoami"]) {
        try daemon.configure(
          Configuration.oidc(sandbox).replacing(
            "api_origins = [\"\(sandbox.url)\"]", with: "api_origins = [\"https://api.example.com\"]"))
        try daemon.call("daemon.reload")
      }
      #expect(error?.code == 1006)
      #expect(try sandbox.count("apiRequests") == 0)
      #expect(try daemon.refusal(of: "http.request", params(sandbox)).code == 1006)
    }
  }

  @Test("an API that hangs takes no place of another account, and none at all once its callers have left")
  func hangingAPI() async throws {
    try await TestEnvironment.run { environment in
      let (hanging, healthy) = (try environment.sandbox("hanging"), try environment.sandbox("healthy"))
      let daemon = try environment.daemon(
        Configuration.oidc(hanging) + Configuration.oidc(healthy, account: "quick") + Configuration.impatient)
      try daemon.signIn(at: hanging)
      try daemon.signIn("quick", at: healthy)
      try hanging.fault(["path": "/api", "hang": true])
      var long = params(hanging)
      long["timeoutSeconds"] = 60
      let call = RawLink.line("http.request", JSON.object(long).description)
      // More than there are places, by several callers.
      var links = try (0..<3).map { _ in try RawLink(daemon.socket) }
      for link in links { for _ in 0..<32 { link.send(call) } }
      var short = params(hanging)
      short["timeoutSeconds"] = 1
      try eventually("every place is taken") { try daemon.refusal(of: "http.request", short).code == -32001 }
      var quick = params(healthy)
      quick["account"] = "quick"
      #expect(try daemon.call("http.request", quick)["status"] == 200)
      // Requests that hang already are not released by this, but one that is still on its way would be answered.
      try hanging.clearFaults()
      links = []
      try eventually("there is room") { (try? daemon.call("http.request", params(hanging)))?["status"] == 200 }
    }
  }

  @Test("an API that accepts no token at all ends the session with rejectedByServer")
  func unauthorizedForEver() async throws {
    try await TestEnvironment.session(Configuration.impatient) { environment, sandbox, daemon in
      try sandbox.fault(["path": "/api", "status": 401])
      let run = try environment.hearthctl(["request", "work", "GET", sandbox.notes, "--socket", daemon.socket])
      #expect(run.status == 3 && run.output.isEmpty)
      try daemon.waitFor("reauthRequired", "rejectedByServer")
    }
  }

  @Test("one path that refuses every token ends nothing: its 401 is its own answer, and it forces one refresh")
  func onePath() async throws {
    try await TestEnvironment.session(Configuration.impatient) { _, sandbox, daemon in
      for _ in 1...3 { #expect(try daemon.call("http.request", params(sandbox))["status"] == 200) }
      try sandbox.fault(["path": "/api/forbidden", "status": 401])
      try sandbox.forgetStats()
      var forbidden = params(sandbox)
      forbidden["url"] = .string(sandbox.url + "/api/forbidden")
      for _ in 1...3 {
        #expect(try daemon.call("http.request", forbidden)["status"] == 401)
        #expect(try daemon.call("http.request", params(sandbox))["status"] == 200)
      }
      let item = try daemon.enqueue("no", to: sandbox.url + "/api/forbidden")
      try daemon.waitForItem(item, "dead", "rejected")
      for _ in 1...2 {
        let status = try daemon.call(
          "session.reportUnauthorized", ["account": "work", "fingerprint": .string(try daemon.token().fingerprint)])
        #expect(status["state"] == "authenticated")
      }
      #expect(try sandbox.count("tokenCalls") == 1)
      try daemon.waitFor("authenticated")
    }
  }

  @Test("a request that needs more than a fresh token is told so, and the session goes on")
  func challenged() async throws {
    try await TestEnvironment.session(Configuration.impatient) { environment, sandbox, daemon in
      let first = try daemon.token()
      let stepUp = #"Bearer error="insufficient_user_authentication", acr_values="phr", max_age="60""#
      try sandbox.fault(["path": "/api", "status": 401, "headers": ["WWW-Authenticate": .string(stepUp)]])
      try sandbox.forgetStats()
      for _ in 1...3 {
        let error = try daemon.refusal(of: "http.request", params(sandbox))
        #expect(error.code == 1008 && !error.isRetryable)
        #expect(error.challenge?.acrValues == "phr" && error.challenge?.maxAge == 60)
        #expect(error.challenge?.origin.description == sandbox.url)
        let status = try daemon.call(
          "session.reportUnauthorized",
          ["account": "work", "fingerprint": .string(first.fingerprint), "wwwAuthenticate": .string(stepUp)])
        #expect(status["state"] == "authenticated")
      }
      let run = try environment.hearthctl(["request", "work", "GET", sandbox.notes, "--socket", daemon.socket])
      #expect(run.status == 1 && run.output.isEmpty && run.errors.contains("stronger or more recent sign-in"))
      #expect(try sandbox.count("tokenCalls") == 0 && daemon.token().secret == first.secret)

      try sandbox.clearFaults()
      let scope = #"Bearer error="insufficient_scope", scope="write""#
      try sandbox.fault(["path": "/api", "status": 403, "headers": ["WWW-Authenticate": .string(scope)]])
      #expect(try daemon.refusal(of: "http.request", params(sandbox)).challenge?.scope == "write")
      try daemon.waitFor("authenticated")
    }
  }

  @Test("--output has the whole answer or stays as it was, and what cannot be written is not asked for")
  func output() async throws {
    try await TestEnvironment.session(Configuration.impatient) { environment, sandbox, daemon in
      let folder = "\(environment.folder)/out"
      mkdir(folder, 0o755)
      func run(_ line: String...) throws -> TestEnvironment.Run {
        try environment.hearthctl(["request", "work"] + line + ["--socket", daemon.socket])
      }
      func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: "\(folder)/\(name)").map { String(decoding: $0, as: UTF8.self) }
      }
      func answers(_ status: Int, _ body: String) throws {
        try sandbox.clearFaults()
        try sandbox.fault(["path": "/api/x", "status": JSON(status), "body": .string(body)])
      }
      let url = sandbox.url + "/api/x"
      try answers(200, "first")
      let new = try run("GET", url, "-o", "\(folder)/a")
      #expect(new.status == 0 && new.output == "" && new.errors == "" && text("a") == "first")

      // The file that is there is replaced, behind a link too, and keeps its mode.
      chmod("\(folder)/a", 0o640)
      symlink("a", "\(folder)/link")
      try answers(200, "second")
      #expect(try run("GET", url, "--output", "\(folder)/link").status == 0)
      var status = stat()
      #expect(text("a") == "second" && lstat("\(folder)/a", &status) == 0 && status.st_mode & 0o777 == 0o640)
      #expect(lstat("\(folder)/link", &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)

      try answers(503, "sorry")
      let failed = try run("GET", url, "-o", "\(folder)/a")
      #expect(failed.status == 5 && failed.output == "sorry" && text("a") == "second")
      try answers(200, "third")
      #expect(try run("GET", url, "-o", "-").output == "third")
      let device = try run("POST", url, "-o", "/dev/full")
      #expect(device.status == 1)
      #expect(device.errors == "hearthctl: /dev/full cannot be written: No space left on device.\n")

      try sandbox.clearFaults()
      let missing = try run("POST", sandbox.notes, "-o", "\(folder)/none/a")
      #expect(
        missing.status == 1 && missing.errors.hasSuffix("/none/a cannot be written: No such file or directory.\n"))
      let refused = try run("POST", sandbox.notes, "-o", folder).errors
      #expect(refused.hasSuffix("is a folder, not a file. Specify a file name.\n"))
      #expect(try run("POST", sandbox.notes, "-o", "\(folder)/a", "--json").status == 64)
      #expect(try sandbox.written == [], "nothing of this was sent")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["a", "link"])
    }
  }

  @Test("hearthctl prints the body as it came, and its exit status tells the API's")
  func commandLine() async throws {
    try await TestEnvironment.session(Configuration.impatient) { environment, sandbox, daemon in
      func run(_ line: String..., input: String? = nil) throws -> TestEnvironment.Run {
        try environment.hearthctl(["request", "work"] + line + ["--socket", daemon.socket], input: input)
      }
      for (status, exit) in [(200, 0), (304, 0), (401, 1), (404, 1), (429, 5), (500, 5), (501, 1), (503, 5)] {
        try sandbox.clearFaults()
        try sandbox.fault(["path": "/api/x", "status": JSON(status), "body": "a\u{1B}b", "times": 1])
        let answer = try run("GET", sandbox.url + "/api/x")
        #expect(answer.status == Int32(exit) || status == 401, "\(status)")
        if status != 401 { #expect(answer.output == (status == 304 ? "" : "a\u{1B}b"), "\(status)") }
        #expect(answer.errors == (status < 400 || status == 401 ? "" : "hearthctl: The API answered \(status).\n"))
      }
      #expect(
        try run("POST", sandbox.notes, "--data", "-", "-H", "Idempotency-Key: k", input: "from input").status == 0)
      #expect(
        try run("POST", sandbox.notes, "--data", "-", "-H", "Idempotency-Key: k", input: "from input").status == 0)
      #expect(try sandbox.written == ["from input"], "the key is the caller's")
      let head = try run("-i", "GET", sandbox.url + "/api/whoami")
      #expect(head.output.hasPrefix("HTTP/1.1 200\n") && head.output.contains("\n\n{"))
      let json = try JSON(parsing: Array(try run("--json", "GET", sandbox.url + "/api/whoami").output.utf8))
      #expect(json["status"] == 200 && json["fromCache"] == false && json["ageSeconds"] == .null)
      let token = try daemon.token().secret
      for output in environment.output where !output.path.contains("sandbox") {
        #expect(!output.text.contains(token), "\(output.path)")
      }
    }
  }
}
