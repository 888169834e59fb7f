import TestSupport
import Testing

@testable import HearthCore

@Suite("The request machine") struct RequestMachineTests {
  private let api: APISettings = [Sample.origin, Sample.secondOrigin]
  private let alice = Sample.alice
  private let bob = Sample.bob

  private func request(_ method: String = "GET", _ url: String = "https://api.example.com/a") throws -> APIRequest {
    APIRequest(
      method: method, url: try HTTPURL(url),
      headers: [.init(name: "Content-Type", value: "text/plain"), .init(name: "X-A", value: "1")],
      body: method == "GET" ? [] : Array("body".utf8), idempotencyKey: method == "GET" ? nil : "k")
  }

  private func bearer(_ number: Int, of subject: Subject? = nil) -> Bearer {
    Bearer(of: Sample.work, token: ScriptedBearerTokenProvider.token(number), subject: subject, secrets: [])
  }

  private func rejection(_ number: Int) throws -> RequestMachine.Step {
    .replaceBearer(APIRejection(bearer(number).token.fingerprint, at: try request().url))
  }

  private func redirect(_ status: Int, to location: String) -> APIResponse {
    APIResponse(status: status, headers: [.init(name: "location", value: location)])
  }

  private func answered(_ machine: inout RequestMachine, _ response: APIResponse) -> RequestMachine.Step {
    machine.responded(response, api)
  }

  @Test("asks for a token, sends the request with it, and returns the answer, whatever its status")
  func answered() throws {
    for status in [200, 204, 304, 400, 403, 404, 500, 503] {
      var machine = RequestMachine(try request(), of: Sample.work)
      #expect(machine.begin(api) == .getBearer)
      #expect(machine.authorized(by: bearer(1), api) == .send(try request(), bearer(1)))
      let response = APIResponse(status: status, body: [1, 2])
      #expect(answered(&machine, response) == .respond(response))
    }
  }

  @Test("sends nothing to an origin that is not, or no longer, the account's")
  func origins() throws {
    let foreign = try request("GET", "https://elsewhere.example.com/")
    #expect(
      RequestMachine(foreign, of: Sample.work).begin(api: api)
        == .fail(.originNotAllowed(foreign.url.origin, Sample.work)))
    #expect(RequestMachine(foreign, of: Sample.work).begin(api: nil) == .fail(.unknownAccount(Sample.work)))
    let without: APISettings = [Sample.secondOrigin]
    let refusal = Failure.originNotAllowed(try request().url.origin, Sample.work)
    var machine = RequestMachine(try request(), of: Sample.work)
    #expect(machine.authorized(by: bearer(1), without) == .fail(refusal), "a reload took it away")
    _ = machine.authorized(by: bearer(1), api)
    _ = answered(&machine, APIResponse(status: 401))
    #expect(machine.authorized(by: bearer(2), without) == .fail(refusal), "also for a second try")
  }

  // MARK: - 401

  @Test("reports a 401, and sends the request again with the next token")
  func unauthorized() throws {
    var machine = RequestMachine(try request("POST"), of: Sample.work)
    _ = machine.authorized(by: bearer(1), api)
    #expect(try answered(&machine, APIResponse(status: 401)) == rejection(1))
    #expect(machine.authorized(by: bearer(2), api) == .send(try request("POST"), bearer(2)))
    let response = APIResponse(status: 200)
    #expect(answered(&machine, response) == .respond(response))
  }

  @Test("it also reports the next 401, which ends a session whose token has just been refreshed")
  func unauthorizedTwice() throws {
    var machine = RequestMachine(try request(), of: Sample.work)
    _ = machine.authorized(by: bearer(1), api)
    _ = answered(&machine, APIResponse(status: 401))
    _ = machine.authorized(by: bearer(2), api)
    #expect(try answered(&machine, APIResponse(status: 401)) == rejection(2))
  }

  @Test("if the session keeps its token, a 401 is the request's answer, also for the second token")
  func rejectedAlone() throws {
    for kept in 1...2 {
      var machine = RequestMachine(try request(), of: Sample.work)
      let response = APIResponse(status: 401, body: [1])
      for number in 1...kept {
        _ = machine.authorized(by: bearer(number), api)
        #expect(try answered(&machine, response) == rejection(number))
      }
      #expect(machine.authorized(by: bearer(kept), api) == .respond(response))
    }
  }

  @Test("follows a redirect after a 401 with the token that was accepted")
  func redirectedAfterRejection() throws {
    var machine = RequestMachine(try request(), of: Sample.work)
    _ = machine.authorized(by: bearer(1), api)
    _ = answered(&machine, APIResponse(status: 401))
    _ = machine.authorized(by: bearer(2), api)
    #expect(answered(&machine, redirect(307, to: "/b")) == .getBearer)
    #expect(machine.authorized(by: bearer(2), api) == .send(try request("GET", "https://api.example.com/b"), bearer(2)))
  }

  @Test("returns an answer that asks for more than a fresh token to the caller, and does not report it")
  func challenged() throws {
    let demands = [
      (401, #"Bearer error="insufficient_user_authentication", acr_values="phr""#), (401, #"Bearer claims="e30""#),
      (403, #"Bearer error="insufficient_scope", scope="write""#),
    ]
    for (status, field) in demands {
      var machine = RequestMachine(try request("POST"), of: Sample.work)
      _ = machine.authorized(by: bearer(1), api)
      let response = APIResponse(status: status, headers: [.init(name: "WWW-Authenticate", value: field)])
      let challenge = try #require(Challenge(response, from: try request().url.origin, without: []))
      #expect(answered(&machine, response) == .fail(.challenge(challenge, Sample.work)))
    }
    var machine = RequestMachine(try request(), of: Sample.work)
    _ = machine.authorized(by: bearer(1), api)
    let plain = APIResponse(status: 401, headers: [.init(name: "WWW-Authenticate", value: #"Bearer realm="x""#)])
    #expect(try answered(&machine, plain) == rejection(1))
  }

  @Test("does not repeat forever if tokens keep changing")
  func tokensChange() throws {
    var machine = RequestMachine(try request(), of: Sample.work)
    let response = APIResponse(status: 401)
    for number in 1...RequestMachine.maxRejections {
      #expect(machine.authorized(by: bearer(number), api) == .send(try request(), bearer(number)))
      #expect(try answered(&machine, response) == rejection(number))
    }
    #expect(machine.authorized(by: bearer(9), api) == .respond(response))
  }

  @Test("sends nothing again under another user's token")
  func otherUser() throws {
    var machine = RequestMachine(try request(), of: Sample.work)
    _ = machine.authorized(by: bearer(1, of: alice), api)
    _ = answered(&machine, APIResponse(status: 401))
    #expect(machine.authorized(by: bearer(2, of: bob), api) == .fail(.otherUser(Sample.work)))
    _ = machine.authorized(by: bearer(2, of: nil), api)
    _ = answered(&machine, APIResponse(status: 401))
    #expect(
      machine.authorized(by: bearer(3, of: bob), api) == .fail(.otherUser(Sample.work)), "the first one known counts")
    #expect(machine.authorized(by: bearer(3, of: alice), api) == .send(try request(), bearer(3, of: alice)))
  }

  // MARK: - Redirects (RFC 9110, section 15.4)

  @Test(
    "follows a redirect within the origin: a read unchanged, a write unchanged by 307 and 308, or as a GET by 303",
    arguments: [
      (301, "GET", "GET"), (302, "GET", "GET"), (303, "GET", "GET"), (307, "GET", "GET"), (308, "GET", "GET"),
      (301, "HEAD", "HEAD"), (303, "HEAD", "HEAD"), (303, "POST", "GET"), (303, "DELETE", "GET"),
      (307, "POST", "POST"), (308, "PUT", "PUT"),
      (301, "POST", nil), (302, "POST", nil), (302, "PUT", nil), (300, "GET", nil), (304, "GET", nil),
      (305, "GET", nil), (201, "POST", nil),
    ] as [(Int, String, String?)])
  func redirected(status: Int, method: String, next: String?) throws {
    var machine = RequestMachine(try request(method), of: Sample.work)
    _ = machine.authorized(by: bearer(1), api)
    let response = redirect(status, to: "/b?c#d")
    guard let next else { return #expect(answered(&machine, response) == .respond(response)) }
    #expect(answered(&machine, response) == .getBearer, "the session may have been locked since")
    guard case .send(let request, bearer(2)) = machine.authorized(by: bearer(2), api) else {
      Issue.record("It is not sent.")
      return
    }
    #expect(request.url.description == "https://api.example.com/b?c" && request.method == next)
    let isKept = method == next
    #expect(request.body.isEmpty == (!isKept || method == "GET"))
    #expect((request.idempotencyKey == nil) == (!isKept || method == "GET"))
    #expect(request.headers.map(\.name) == (isKept ? ["Content-Type", "X-A"] : ["X-A"]))
  }

  @Test(
    "asks for a body in pieces again after a 401, and if a redirect keeps the body",
    arguments: [307, 303])
  func upload(_ status: Int) throws {
    var original = try request("POST")
    (original.body, original.upload) = ([], .sized(7))
    var machine = RequestMachine(original, of: Sample.work)
    _ = machine.authorized(by: bearer(1), api)
    _ = answered(&machine, APIResponse(status: 401))
    #expect(machine.authorized(by: bearer(2), api) == .send(original, bearer(2)))
    #expect(answered(&machine, redirect(status, to: "/b")) == .getBearer)
    guard case .send(let next, bearer(2)) = machine.authorized(by: bearer(2), api) else {
      Issue.record("It is not sent.")
      return
    }
    #expect(next.upload == (status == 307 ? .sized(7) : nil) && next.url.target == "/b")
  }

  @Test(
    "returns a redirect to another origin, even to one of the account's",
    arguments: [
      "https://second.example.com/a", "http://api.example.com/a", "https://api.example.com:444/a", "//other.example/",
      "https://api.example.com@other.example/", "ftp://api.example.com/", "https://api.example.com\\@other.example/",
      "https://[nonsense",
    ])
  func elsewhere(_ location: String) throws {
    var machine = RequestMachine(try request(), of: Sample.work)
    _ = machine.authorized(by: bearer(1), api)
    let response = redirect(307, to: location)
    #expect(answered(&machine, response) == .respond(response))
  }

  @Test("returns a redirect without a location, and one too many")
  func endless() throws {
    var machine = RequestMachine(try request(), of: Sample.work)
    #expect(answered(&machine, APIResponse(status: 302)) == .respond(APIResponse(status: 302)))
    let response = redirect(302, to: "/a")
    for _ in 1...RequestMachine.maxRedirects {
      _ = machine.authorized(by: bearer(1), api)
      #expect(answered(&machine, response) == .getBearer)
    }
    _ = machine.authorized(by: bearer(1), api)
    #expect(answered(&machine, response) == .respond(response))
  }

  // MARK: - No answer

  @Test("without an answer, reports what is known about the request")
  func unanswered() throws {
    func sentence(_ method: String, _ failure: ExchangeFailure, redirected: Bool = false) throws -> String {
      var machine = RequestMachine(try request(method), of: Sample.work)
      _ = machine.authorized(by: bearer(1), api)
      if redirected { _ = answered(&machine, redirect(303, to: "/b")) }
      guard case .fail(let failure) = machine.unanswered(failure), failure.kind == .requestFailed else { return "" }
      return failure.message
    }
    #expect(try sentence("POST", .notSent(message: "refused")) == "refused. The request was not sent.")
    #expect(
      try sentence("POST", .unanswered(message: "late"))
        == "late. It is unknown whether the request took effect.")
    #expect(try sentence("GET", .unanswered(message: "late")) == "late.")
    #expect(
      try sentence("POST", .notSent(message: "refused"), redirected: true)
        == "refused. The API had already redirected the request.")
  }

  @Test("an answer of a proxy or a portal is not the API's", arguments: [407, 511])
  func portal(_ status: Int) throws {
    var machine = RequestMachine(try request(), of: Sample.work)
    _ = machine.authorized(by: bearer(1), api)
    guard case .fail(let failure) = answered(&machine, APIResponse(status: status)) else {
      Issue.record("It is given.")
      return
    }
    #expect(failure.isOutage)
  }

  @Test("after a page instead of JSON, nobody claims that the request was not sent")
  func pageForJSON() throws {
    var request = try request("POST")
    request.headers.append(.init(name: "Accept", value: "application/json"))
    var machine = RequestMachine(request, of: Sample.work)
    _ = machine.authorized(by: bearer(1), api)
    let page = APIResponse(status: 200, headers: [.init(name: "Content-Type", value: "text/html")])
    guard case .fail(let failure) = answered(&machine, page) else {
      Issue.record("The page is given.")
      return
    }
    #expect(failure.message.hasSuffix("It is unknown whether the request took effect."))
  }

  @Test("a response that is too long is not returned in part")
  func tooLong() throws {
    var machine = RequestMachine(try request(), of: Sample.work)
    _ = machine.authorized(by: bearer(1), api)
    guard case .fail(let failure) = answered(&machine, APIResponse(status: 200, isTruncated: true)) else {
      Issue.record("It is given.")
      return
    }
    #expect(failure.message.contains("longer than 4 MiB") && !failure.isRetryable && !failure.isOutage)
  }
}

extension RequestMachine {
  fileprivate func begin(api: APISettings?) -> Step {
    var machine = self
    return machine.begin(api)
  }
}
