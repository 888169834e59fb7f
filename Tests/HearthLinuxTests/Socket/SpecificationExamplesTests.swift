import HearthControl
import TestSupport
import Testing

/// The examples of JSON-RPC 2.0 (section 7), each on one line. Parameters by position are refused here: -32602, where the
/// specification's server knows what to do with them.
@Suite("The examples of JSON-RPC 2.0", .timeLimit(.minutes(1))) struct SpecificationExamplesTests {
  /// What is sent, and of what comes back the ids with the result or the error's code; nil: nothing comes back.
  private static let examples: [(sent: String, back: String?)] = [
    (#"{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}"#, "1: -32602"),
    (
      #"{"jsonrpc": "2.0", "method": "subtract", "params": {"subtrahend": 23, "minuend": 42}, "id": 3}"#, "3: 19"
    ),
    (
      #"{"jsonrpc": "2.0", "method": "subtract", "params": {"minuend": 42, "subtrahend": 23}, "id": 4}"#, "4: 19"
    ),
    (#"{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}"#, nil),
    (#"{"jsonrpc": "2.0", "method": "foobar"}"#, nil),
    (#"{"jsonrpc": "2.0", "method": "foobar", "id": "1"}"#, #""1": -32601"#),
    (#"{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]"#, "null: -32700"),
    (#"{"jsonrpc": "2.0", "method": 1, "params": "bar"}"#, "null: -32600"),
    (
      #"[{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},{"jsonrpc": "2.0", "method"]"#,
      "null: -32700"
    ),
    ("[]", "null: -32600"),
    ("[1]", "[null: -32600]"),
    ("[1,2,3]", "[null: -32600, null: -32600, null: -32600]"),
    (
      #"[{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},"#
        + #"{"jsonrpc": "2.0", "method": "notify_hello", "params": [7]},"#
        + #"{"jsonrpc": "2.0", "method": "subtract", "params": [42,23], "id": "2"},{"foo": "boo"},"#
        + #"{"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"},"#
        + #"{"jsonrpc": "2.0", "method": "get_data", "id": "9"}]"#,
      #"["1": -32602, "2": -32602, null: -32600, "5": -32601, "9": ["hello",5]]"#
    ),
    (
      #"[{"jsonrpc": "2.0", "method": "notify_sum", "params": [1,2,4]},"#
        + #"{"jsonrpc": "2.0", "method": "notify_hello", "params": [7]}]"#, nil
    ),
  ]

  private static func brief(_ answer: JSON) -> String {
    if let answers = answer.array { return "[" + answers.map(brief).joined(separator: ", ") + "]" }
    guard answer["jsonrpc"] == "2.0", (answer["result"] == nil) != (answer["error"] == nil) else { return "\(answer)" }
    return "\(answer["id"] ?? "none"): \(answer["result"] ?? answer["error"]?["code"] ?? "none")"
  }

  @Test("are answered as they are there, or not at all")
  func examples() async throws {
    try await calling { (client) throws in
      for example in Self.examples {
        client.send(example.sent)
        guard let back = example.back else { continue }
        #expect(try client.receive().map(Self.brief) == back, "\(example.sent)")
      }
      // Had anything been answered that is not to be, it would come before this.
      client.send(#"{"jsonrpc":"2.0","id":"last","method":"echo"}"#)
      #expect(try client.receive() == answer("last", [:]))
    }
  }
}
