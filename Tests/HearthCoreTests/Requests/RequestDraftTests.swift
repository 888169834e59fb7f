import HearthCore
import TestSupport
import Testing

@Suite("A request as given by a caller") struct RequestDraftTests {
  private func checked(_ headers: [(String, String)], body: String = "", method: String = "POST") throws -> APIRequest {
    try RequestDraft(
      account: .sample, method: method, url: "https://api.example.com/a",
      headers: headers.map { APIRequest.Header(name: $0.0, value: $0.1) }, body: Array(body.utf8)
    ).checked(maxBody: 4)
  }

  @Test("is sent unchanged, with the caller's own idempotency key")
  func whole() throws {
    let request = try checked([("X-A", "1"), ("idempotency-key", "k"), ("X-A", "2")], body: "abcd")
    #expect(request.headers.map(\.value) == ["1", "2"] && request.idempotencyKey == "k")
    #expect(request.body == Array("abcd".utf8) && request.responseLimit == RequestMachine.responseLimit)
  }

  @Test(
    "may not set headers that belong to Hearth or to the connection",
    arguments: [
      "Authorization", "Host", "content-length", "Transfer-Encoding", "Connection", "TE", "Trailer", "Upgrade",
      "Keep-Alive", "Proxy-Authorization", "Proxy-Connection", "Proxy-Authenticate",
    ])
  func ownHeaders(_ name: String) {
    #expect(throws: Failure.self) { try checked([(name, "x")]) }
  }

  @Test("is refused with two keys, an invalid key, a body that is too long, a line break, or an invalid method")
  func refused() {
    #expect(throws: Failure.self) { try checked([("Idempotency-Key", "a"), ("Idempotency-Key", "b")]) }
    #expect(throws: Failure.self) { try checked([("Idempotency-Key", "a b")]) }
    #expect(throws: Failure.self) { try checked([], body: "abcde") }
    #expect(throws: Failure.self) { try checked([("X", "a\r\nAuthorization: Bearer x")]) }
    #expect(throws: Failure.self) { try checked([], method: "CONNECT") }
    #expect(throws: Failure.self) { try checked([], method: "GE T") }
  }
}
