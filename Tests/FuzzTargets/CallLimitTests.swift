import HearthControl
import HearthCore
import HearthRuntime
import TestSupport
import Testing

/// Each limit of a method's parameters, reached and then exceeded by one.
@Suite("The limits of parameters", .timeLimit(.minutes(2)))
struct CallLimitTests {
  private func call(_ method: String, _ params: JSONObject, _ daemon: CalledDaemon) async throws -> RPCError? {
    let answers = await daemon.answers(to: Request(id: 1, method: method, params: params).line.dropLast())
    let answer = try #require(answers.first)
    return try JSON(parsing: Array(answer.dropLast()))["error"].flatMap { RPCError(json: $0) }
  }

  /// Whether the call is refused because of this parameter.
  private func isRefused(_ error: RPCError?, _ parameter: String) -> Bool {
    guard let error, error.code == -32602 else { return false }
    return ["\"\(parameter)", " \(parameter):", " \(parameter) "].contains { error.message.contains($0) }
  }

  @Test("for numbers are those in rpc.discover, at both ends")
  func numbers() async throws {
    try await CalledDaemon.run { daemon in
      let document = try await AnswerRules(daemon).document
      var tried: [String] = []
      for method in document["methods"]?.array ?? [] {
        for param in method["params"]?.array ?? [] {
          guard let name = method["name"]?.string, let key = param["name"]?.string,
            let schema = param["schema"]?["anyOf"]?.array?.first(where: { $0["type"] == "integer" }) ?? param["schema"],
            let least = schema["minimum"]?.int, let most = schema["maximum"]?.int
          else { continue }
          tried.append("\(name) \(key) \(least)...\(most)")
          var params: JSONObject = ["account": "work"]
          if ["http.request", "http.open"].contains(name) {
            (params["method"], params["url"]) = ("GET", "https://api.example.com/")
          }
          if name == "outbox.import" { params = ["items": []] }
          if name == "http.write" { params = ["stream": "none", "data": ""] }
          for (number, isAllowed) in [(least, true), (most, true), (least - 1, false), (most + 1, false)] {
            params[key] = JSON(number)
            let error = try await call(name, params, daemon)
            #expect(isRefused(error, key) != isAllowed, "\(name) with \(key) \(number): \(error?.message ?? "done")")
          }
        }
      }
      #expect(
        tried == [
          "http.open timeoutSeconds 1...300", "http.open contentLength 0...9007199254740991",
          "http.request timeoutSeconds 1...300", "http.write offset 0...9007199254740991",
          "outbox.export limit 1...1000",
          "outbox.flush timeoutSeconds 0...3600", "outbox.import itemsBefore 0...9007199254740991",
          "outbox.import bytesBefore 0...9007199254740991", "outbox.list limit 1...1000",
          "session.getToken minValiditySeconds 0...2147483647", "session.import expiresIn 0...2147483647",
        ])
    }
  }

  @Test(
    "of texts, in bytes",
    arguments: [
      ("outbox.enqueue", "lane", 255), ("outbox.enqueue", "idempotencyKey", 255), ("outbox.enqueue", "replaceKey", 255),
      ("outbox.enqueue", "method", 64), ("outbox.enqueue", "body", 1 << 20), ("http.request", "body", 1 << 20),
      ("http.request", "method", 64), ("http.open", "method", 64), ("session.import", "refreshToken", 128 << 10),
      ("session.import", "accessToken", 128 << 10), ("session.import", "idToken", 128 << 10),
    ])
  func texts(_ method: String, _ parameter: String, _ most: Int) async throws {
    try await CalledDaemon.run { daemon in
      for excess in 0...1 {
        var params: JSONObject = ["account": "work"]
        if method == "session.import" {
          params["accessToken"] = "token"
        } else {
          (params["method"], params["url"]) = ("POST", "https://api.example.com/notes")
        }
        params[parameter] = .string(String(repeating: "A", count: most + excess))
        let error = try await call(method, params, daemon)
        #expect(isRefused(error, parameter) == (excess == 1), "\(most + excess): \(error?.message ?? "done")")
      }
    }
  }

  @Test("for Base64 apply to the decoded bytes")
  func bytes() async throws {
    try await CalledDaemon.run { daemon in
      for excess in 0...1 {
        let params: JSONObject = [
          "account": "work", "method": "POST", "url": "https://api.example.com/notes",
          "bodyBase64": .string(Base64.encode([UInt8](repeating: 0xFF, count: (1 << 20) + excess))),
        ]
        let error = try await call("outbox.enqueue", params, daemon)
        #expect(isRefused(error, "body") == (excess == 1))
      }
    }
  }

  @Test("for headers are 100 fields and 64 KiB in total")
  func headers() async throws {
    try await CalledDaemon.run { daemon in
      for method in ["outbox.enqueue", "http.request", "http.open"] {
        for excess in 0...1 {
          var many: JSONObject = [:]
          for number in 0..<100 + excess { many["X-\(number)"] = "v" }
          let long: JSON = .string(String(repeating: "v", count: (64 << 10) - 3 + excess))
          for headers in [many, ["X-1": long]] {
            let params: JSONObject = [
              "account": "work", "method": "POST", "url": "https://api.example.com/notes", "headers": .object(headers),
            ]
            let error = try await call(method, params, daemon)
            #expect(isRefused(error, "headers") == (excess == 1), "\(method): \(error?.message ?? "done")")
          }
        }
      }
    }
  }

  @Test("for an account's name is 64 characters; a longer one is an unknown account")
  func accounts() async throws {
    #expect(AccountName(String(repeating: "a", count: 64)) != nil)
    #expect(AccountName(String(repeating: "a", count: 65)) == nil)
    try await CalledDaemon.run { daemon in
      for count in [64, 65] {
        let params: JSONObject = ["account": .string(String(repeating: "a", count: count))]
        let error = try await call("session.get", params, daemon)
        #expect(error?.code == 1005)
      }
    }
  }

  @Test("for subscriptions are 64 per connection")
  func subscriptions() async throws {
    try await CalledDaemon.run { daemon in
      for _ in 0..<EventHub.subscriptionsPerConnection {
        let error = try await call("events.subscribe", [:], daemon)
        #expect(error == nil)
      }
      let error = try await call("events.subscribe", [:], daemon)
      #expect(error?.code == -32001)
    }
  }
}
