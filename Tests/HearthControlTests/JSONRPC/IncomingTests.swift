import HearthControl
import Testing

@Suite struct IncomingTests {
  private func decode(_ text: String) -> Incoming {
    Incoming(line: Array(text.utf8))
  }

  /// What is answered without asking anybody: `id` and code.
  private func refusal(_ text: String) -> String? {
    switch decode(text) {
    case .refused(let error): "null \(error.code)"
    case .single(.invalid(let id, let error)): "\(id?.description ?? "none") \(error.code)"
    case .single(.request), .batch: nil
    }
  }

  @Test("reads a call, its id as it came", arguments: ["1", "-1.50", "1e2", "\"a\"", "null", "\"\""])
  func readsCall(id: String) throws {
    let incoming = decode(#"{"jsonrpc":"2.0","id":\#(id),"method":"m","params":{"a":1}}"#)
    guard case .single(.request(let request)) = incoming else {
      Issue.record("no request: \(incoming)")
      return
    }
    #expect(request.id?.description == id)
    #expect(request.method == "m")
    #expect(request.params == ["a": 1])
  }

  @Test("a call without id is a notification; parameters may be absent")
  func readsNotification() {
    #expect(decode(#"{"jsonrpc":"2.0","method":"m"}"#) == .single(.request(Request(id: nil, method: "m"))))
  }

  @Test("parameters that are null, or by position, are refused with -32602", arguments: ["null", "[]", "[null]"])
  func refusesParameters(params: String) {
    #expect(refusal(#"{"jsonrpc":"2.0","id":1,"method":"m","params":\#(params)}"#) == "1 -32602")
  }

  @Test(
    "refuses what is no request with -32600, and with id null where its id cannot be told",
    arguments: [
      "1", "\"x\"", "null", "{}", #"{"jsonrpc":"2.0","method":1,"params":"bar"}"#,
      #"{"jsonrpc":"2.0","id":true,"method":"m"}"#, #"{"jsonrpc":"2.0","id":[1],"method":"m"}"#,
      #"{"jsonrpc":"2.0","id":{},"method":"m"}"#, "[]",
    ])
  func refusesInvalid(text: String) {
    #expect(refusal(text) == "null -32600")
  }

  @Test(
    "refuses what is no request under its id, where that can be told",
    arguments: ["42", "1.50", "\"a\"", "null"],
    [
      #"{"method":"m","id":ID}"#, #"{"jsonrpc":"1.0","method":"m","id":ID}"#,
      #"{"jsonrpc":2.0,"method":"m","id":ID}"#, #"{"jsonrpc":"2.0","id":ID}"#,
      #"{"jsonrpc":"2.0","id":ID,"method":1}"#, #"{"jsonrpc":"2.0","id":ID,"method":"m","params":1}"#,
      #"{"jsonrpc":"2.0","id":ID,"method":"m","params":"x"}"#, #"{"jsonrpc":"2.0","id":ID,"method":"m","params":true}"#,
    ])
  func refusesInvalidUnderItsID(id: String, text: String) {
    #expect(refusal(text.replacing("ID", with: id)) == "\(id) -32600")
  }

  @Test("refuses parameters by position with -32602 under the call's id, and a notification's without a word")
  func refusesPositions() {
    #expect(refusal(#"{"jsonrpc":"2.0","id":7,"method":"m","params":[1]}"#) == "7 -32602")
    #expect(refusal(#"{"jsonrpc":"2.0","method":"m","params":[]}"#) == "none -32602")
  }

  @Test(
    "refuses what is not JSON with -32700",
    arguments: ["", "{", "{\"jsonrpc\": \"2.0\", \"method\": \"foobar, \"params\"", "[1"])
  func refusesNoJSON(text: String) {
    #expect(refusal(text) == "null -32700")
  }

  @Test("reads a batch, each element for itself")
  func readsBatch() {
    let incoming = decode(
      #"[1,{"jsonrpc":"2.0","id":"1","method":"sum"},{"jsonrpc":"2.0","method":"n"},{"foo":"boo"}]"#)
    guard case .batch(let calls) = incoming else {
      Issue.record("no batch: \(incoming)")
      return
    }
    #expect(calls.count == 4)
    #expect(calls[1] == .request(Request(id: "1", method: "sum")))
    #expect(calls[2] == .request(Request(id: nil, method: "n")))
    for index in [0, 3] {
      guard case .invalid(.some(.null), let error) = calls[index] else {
        Issue.record("call \(index) is taken for valid")
        continue
      }
      #expect(error.code == -32600)
    }
  }

  @Test("takes 100 calls in a batch and refuses 101 whole")
  func limitsBatch() {
    func batch(_ count: Int) -> String {
      "[" + Array(repeating: #"{"jsonrpc":"2.0","method":"m"}"#, count: count).joined(separator: ",") + "]"
    }
    guard case .batch(let calls) = decode(batch(100)) else {
      Issue.record("100 calls were refused")
      return
    }
    #expect(calls.count == 100)
    #expect(refusal(batch(101)) == "null -32600")
  }
}
