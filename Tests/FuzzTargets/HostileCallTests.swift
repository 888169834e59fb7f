import HearthControl
import HearthCore
import HearthRuntime
import TestSupport
import Testing

@Suite("Every method, called with what rpc.discover says and with what it does not say", .timeLimit(.minutes(2)))
struct HostileCallTests {
  private static let methods = ControlService.served.keys.sorted()

  private func calls(_ method: String, _ daemon: CalledDaemon, _ rules: AnswerRules) -> HostileCalls {
    let samples = [
      "account": ["work", "work", "work", "other"], "id": [daemon.item, "none"], "method": ["POST", "GET"],
      "url": ["https://api.example.com/notes", "https://api.example.com/"], "fingerprint": ["00000001", "0000beef"],
      "cursor": [], "lane": ["lane"], "idempotencyKey": ["key"], "signIn": ["none"], "subscription": ["1", "2"],
      "stream": [method == "http.write" ? "2" : "1", "none"],
    ].filter { !$0.value.isEmpty }
    return HostileCalls(document: rules.document, method: method, samples: samples, random: SeededGenerator(seed: 14))
  }

  @Test("accepts a call as described, and its answers and events are as described", arguments: methods)
  func right(_ method: String) async throws {
    try await CalledDaemon.run { daemon in
      let rules = try await AnswerRules(daemon)
      let (url, open) = (#""url":"https://api.example.com/notes""#, #""method":"http.open""#)
      for begun in [
        #""method":"events.subscribe""#, #"\#(open),"params":{"account":"work","method":"GET",\#(url)}"#,
        #"\#(open),"params":{"account":"work","method":"POST","chunked":true,\#(url)}"#,
      ] {
        let answers = await daemon.answers(to: Array(#"{"jsonrpc":"2.0","id":1,\#(begun)}"#.utf8))
        #expect(String(decoding: answers[0], as: UTF8.self).contains("result"))
      }
      var calls = calls(method, daemon, rules)
      var codes: [Int?] = []
      for _ in 0..<60 {
        let line = Array(calls.right().utf8)
        for answer in await daemon.answers(to: line) { codes.append(try rules.check(answer, to: line)) }
      }
      #expect(codes.count == 60)
      #expect(codes.contains { $0 != -32602 }, "no call was understood")
      try rules.check(events: daemon.peer.sink.sent)
    }
  }

  @Test("refuses a wrong call with one sentence that repeats no secret, and continues", arguments: methods)
  func wrong(_ method: String) async throws {
    try await CalledDaemon.run { daemon in
      let rules = try await AnswerRules(daemon)
      var calls = calls(method, daemon, rules)
      var count = 0
      for _ in 0..<300 {
        let line = Array(calls.wrong().utf8)
        for answer in await daemon.answers(to: line) {
          count += 1
          let code = try rules.check(answer, to: line)
          let repeated = code == nil ? [] : Self.marks(in: answer)
          let allowed = Self.repeatable(line)
          #expect(repeated.isSubset(of: allowed), "\(String(decoding: answer.prefix(400), as: UTF8.self))")
        }
      }
      #expect(count == 300)
      try rules.check(events: daemon.peer.sink.sent)
      let after = await daemon.answers(to: Array(#"{"jsonrpc":"2.0","id":2,"method":"daemon.getInfo"}"#.utf8))
      #expect(try rules.check(after[0], to: []) == nil, "the daemon does not answer any more")
    }
  }

  /// What an error may repeat of a call: the names of parameters, and of things that do not exist.
  private static let named = ["account", "id", "signIn", "subscription", "stream", "topics", "url", "method", "items"]

  private static func repeatable(_ line: [UInt8]) -> Set<String> {
    guard let params = try? JSON(parsing: line)["params"]?.object else { return [] }
    let names =
      params.members.map { $0.key } + params.members.filter { named.contains($0.key) }.map { $0.value.description }
    return Set(names.flatMap { marks(in: Array($0.utf8)) })
  }

  /// The marks in generated texts, with their numbers.
  private static func marks(in bytes: [UInt8]) -> Set<String> {
    Set(String(decoding: bytes, as: UTF8.self).matches(of: /hush-[0-9]+/).map { String($0.output) })
  }
}
