import TestSupport
import Testing

@testable import HearthCore

@Suite("Which answers are kept, and when they may be given") struct StoredResponseTests {
  private let now = Sample.start

  private func headers(_ text: String) -> [APIRequest.Header] {
    text.split(separator: "\n").map { line in
      let parts = line.split(separator: ":", maxSplits: 1)
      return APIRequest.Header(name: String(parts[0]), value: String(parts[1].drop { $0 == " " }))
    }
  }

  private func response(_ fields: String = "", _ status: Int = 200, body: String = "body") -> APIResponse {
    APIResponse(status: status, headers: headers(fields), body: Array(body.utf8))
  }

  private func stored(
    _ response: APIResponse, isRedirected: Bool = false
  ) -> StoredResponse? {
    StoredResponse(response, isRedirected: isRedirected, at: now)
  }

  private func request(
    _ fields: String = "", _ method: String = "GET", body: String = "", at target: String = "/a"
  ) throws -> APIRequest {
    APIRequest(
      method: method, url: try HTTPURL("https://api.example.com\(target)"), headers: headers(fields),
      body: Array(body.utf8),
      idempotencyKey: nil)
  }

  @Test("a complete 200 is kept, unless the API says no-store or that no other request matches it")
  func kept() {
    for fields in ["", "Cache-Control: private, max-age=0, must-revalidate", "Cache-Control: no-cache", "Vary: Accept"]
    {
      #expect(stored(response(fields)) != nil, "\(fields)")
    }
    for fields in ["Cache-Control: private, No-Store", "A: b\ncache-control: no-store", "Vary: Accept, *"] {
      #expect(stored(response(fields)) == nil, "\(fields)")
    }
    for status in [201, 203, 204, 206, 301, 304, 401, 404, 500] { #expect(stored(response("", status)) == nil) }
    var partial = response()
    partial.isTruncated = true
    #expect(stored(partial) == nil)
  }

  @Test("a secret is found anywhere and in any spelling in an answer, and in the address")
  func secrets() {
    let secrets = [Secret("other-one"), Secret("the/token")]
    func repeats(_ response: APIResponse, at url: String = "https://api.example.com/a") -> Bool? {
      stored(response)?.repeats(secrets, at: url)
    }
    for body in ["you sent the/token", #"{"t":"the\/token"}"#, "the%2Ftoken", "dGhlL3Rva2Vu", "7468652f746f6b656e"] {
      #expect(repeats(response(body: body)) == true, "\(body)")
    }
    #expect(repeats(response("X-Sent: Bearer the/token")) == true)
    #expect(repeats(response(), at: "https://api.example.com/a?t=the%2ftoken") == true)
    #expect(repeats(response(body: "you sent the/toke")) == false)
  }

  @Test("a compressed answer is not kept, because secrets in it cannot be seen")
  func compressed() {
    #expect(stored(response("Content-Encoding: gzip")) == nil)
    #expect(stored(response("Content-Encoding: identity, br")) == nil)
    #expect(stored(response("Content-Encoding: identity")) != nil)
    var file = response()
    file.body = [0x1F, 0x8B, 8, 0]
    #expect(stored(file) == nil)
  }

  @Test("fields of a connection or of one exchange are not kept")
  func fields() {
    let kept = stored(
      response("ETag: \"1\"\nSet-Cookie: s=1\nConnection: close\nAge: 5\nTransfer-Encoding: chunked\nX: y"))
    #expect(kept?.headers == headers("ETag: \"1\"\nX: y"))
    #expect(kept?.initialAge == .seconds(5))
  }

  @Test("the fields that select an answer are those in Vary, except the token, which changes")
  func selectors() {
    #expect(stored(response("Vary: X-B, accept\nvary: Authorization"))?.selectors == ["accept", "x-b"])
  }

  @Test("only a GET without a body, a range or conditions has an answer to keep")
  func requests() throws {
    #expect(try request("Accept: a").hasAnswerToKeep)
    #expect(try !request("", "POST").hasAnswerToKeep)
    #expect(try !request(at: "/a?b&access_token=x").hasAnswerToKeep, "its address has a token in it")
    #expect(try !request("", "HEAD").hasAnswerToKeep)
    #expect(try !request("", "GET", body: "x").hasAnswerToKeep)
    for field in ["Range: bytes=0-1", "If-None-Match: \"1\"", "if-modified-since: x", "Cache-Control: no-store"] {
      #expect(try !request(field).hasAnswerToKeep, "\(field)")
    }
  }

  @Test("an answer that came from the address itself is validated by ETag and Last-Modified")
  func validation() throws {
    let both = response("ETag: W/\"1\"\nLast-Modified: Sat, 21 Nov 2026 09:00:00 GMT")
    let validation = stored(both)?.validation(of: try request("A: b"))
    #expect(
      validation?.headers
        == headers("A: b\nIf-None-Match: W/\"1\"\nIf-Modified-Since: Sat, 21 Nov 2026 09:00:00 GMT"))
    #expect(stored(response())?.validation(of: try request()) == nil)
    #expect(stored(both, isRedirected: true)?.validation(of: try request()) == nil)
  }

  @Test("a 304 gives the known body with the new fields, and restarts its age")
  func confirmed() {
    let kept = stored(response("ETag: \"1\"\nX: old\nContent-Type: text/plain\nAge: 9"))
    let fresh = response("ETag: \"1\"\nX: new\nContent-Type: text/html\nSet-Cookie: s=1", 304, body: "")
    #expect(kept?.answer(confirmedBy: fresh) == response("Content-Type: text/plain\nETag: \"1\"\nX: new"))
    let next = kept?.confirmed(by: fresh, at: now + .seconds(60))
    #expect(next?.age(at: now + .seconds(61)) == .seconds(1))
    #expect(kept?.confirmed(by: response("Cache-Control: no-store", 304), at: now) == nil)
  }

  @Test("its age is what the API says, plus the time since then; a clock that is set back does not reduce it")
  func age() {
    let kept = stored(response("Age: 30"))
    #expect(kept?.age(at: now + .seconds(12)) == .seconds(42))
    #expect(kept?.age(at: now - .seconds(12)) == .seconds(30))
  }

  @Test("it may be used at any time, or as long as stale-if-error allows after max-age")
  func answersStale() {
    #expect(stored(response())?.mayAnswerStale(at: now + .seconds(1_000_000)) == true)
    let limited = stored(response("Cache-Control: max-age=10, stale-if-error=\"20\""))
    #expect(limited?.mayAnswerStale(at: now + .seconds(30)) == true)
    #expect(limited?.mayAnswerStale(at: now + .seconds(31)) == false)
  }
}
