import CryptoExtras
import HearthCore
import NIOCore
import NIOEmbedded
import NIOHTTP1
import TestSupport
import Testing

@testable import HearthOAuth

/// How a connection may end after a body without saying that the body is whole.
enum BrokenEnd: String, CaseIterable, Sendable {
  /// No length, and the end of TCP without that of TLS, as some front ends and old proxies close.
  case cut
  case reset
  /// The announced length is longer than the body.
  case short
  /// The last chunk is missing.
  case unchunked

  func reply(_ body: String, status: Int = 200) -> LoopbackServer.Reply {
    let head = "HTTP/1.1 \(status) X\r\nContent-Type: application/json\r\nConnection: close\r\n"
    let count = body.utf8.count
    return switch self {
    case .cut: .cut(head + "\r\n" + body)
    case .reset: .rawThenReset(head + "\r\n" + body)
    case .short: .cut(head + "Content-Length: \(count + 7)\r\n\r\n" + body)
    case .unchunked: .cut(head + "Transfer-Encoding: chunked\r\n\r\n\(String(count, radix: 16))\r\n\(body)\r\n")
    }
  }
}

@Suite("Answers of a provider whose connection breaks off") struct BrokenAnswerTests {
  private static let grant =
    #"{"access_token":"a2","refresh_token":"r2","token_type":"Bearer","expires_in":3600,"scope":"a b"}"#
  private static let half = String(grant.prefix(60))

  /// Runs a refresh over TLS that is answered so. Returns the failure too if there is one.
  private func refresh(
    _ reply: LoopbackServer.Reply
  ) async throws -> (response: TokenResponse?, failure: RefreshFailure?, requests: Int) {
    let authority = try TestAuthority.root()
    var result: (TokenResponse?, RefreshFailure?, Int) = (nil, nil, 0)
    try await TransportBench.run(tls: try authority.identity().serverTLS(), { _ in reply }) { bench in
      let endpoint = bench.endpoint(route: try bench.route(authority))
      do throws(RefreshFailure) {
        result.0 = try await endpoint.refresh(bench.credential)
      } catch {
        result.1 = error
      }
      result.2 = bench.server.requests.count
    }
    return result
  }

  @Test("a grant that is a whole JSON value counts, and is asked for once", arguments: BrokenEnd.allCases)
  func wholeGrant(_ end: BrokenEnd) async throws {
    let (response, failure, requests) = try await refresh(end.reply(Self.grant))
    #expect(failure == nil && requests == 1)
    #expect(response?.accessToken.secret == Secret("a2") && response?.refreshToken?.secret == Secret("r2"))
    #expect(response?.lifetime == .seconds(3600) && response?.error == nil)
  }

  @Test("a refusal that is whole counts too", arguments: BrokenEnd.allCases)
  func wholeRefusal(_ end: BrokenEnd) async throws {
    let (_, failure, _) = try await refresh(end.reply(#"{"error":"invalid_grant"}"#, status: 400))
    #expect(failure.map { Outcome($0) } == .rejected)
  }

  @Test("half a grant is no answer, and people are told so in words", arguments: BrokenEnd.allCases)
  func halfGrant(_ end: BrokenEnd) async throws {
    let (_, failure, _) = try await refresh(end.reply(Self.half))
    guard case .unanswered(let message)? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(message.hasSuffix(": the connection closed before the response was complete."))
  }

  @Test(
    "what does not show by itself where it ends is no answer: a number, a form, a page, nothing",
    arguments: ["12", "access_token=a2&expires_in=60", "<html></html>", ""])
  func endless(_ body: String) async throws {
    for end in [BrokenEnd.cut, .short] {
      let (_, failure, _) = try await refresh(end.reply(body))
      #expect(failure.map { Outcome($0) } == .unanswered, "\(end)")
    }
  }

  @Test("a connection that ends before the head is no answer, and people are told so in words")
  func noHead() async throws {
    let (_, failure, _) = try await refresh(.cut(""))
    guard case .unanswered(let message)? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(message.hasSuffix(": the connection was closed before the response was complete."))
  }

  private func outcome(
    of sender: HTTPSender, _ request: HTTPSender.Request
  ) async -> Result<HTTPResponse, ExchangeFailure> {
    do throws(ExchangeFailure) {
      return .success(try await sender.send(request, timeout: .seconds(30)))
    } catch {
      return .failure(error)
    }
  }

  private func connection(_ channel: EmbeddedChannel) throws -> HTTPConnection {
    let connection = try HTTPConnection.add(to: channel) { _ in }
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    return connection
  }

  @Test("what was read before the deadline is given, and said to be broken off", arguments: [grant, half])
  func silence(_ body: String) async throws {
    let channel = EmbeddedChannel()
    let connection = try connection(channel)
    let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
    let exchange = HTTPExchange(
      HTTPExchange.Message(head: head, body: ByteBuffer()), reading: .document(limit: 1000), clock: ManualClock()
    ) { error, _, _ in .unanswered(message: (error as? HTTPExchange.Cancelled)?.reason ?? "") }
    #expect(connection.start(exchange))
    try channel.writeInbound(ByteBuffer(string: "HTTP/1.1 200 OK\r\n\r\n" + body))
    exchange.cancel("no answer")
    let response = try await exchange.answer()
    #expect(response.body == Array(body.utf8) && response.breakOff == .unanswered(message: "no answer"))
    #expect(response.isWholeJSON == (body == Self.grant))
  }

  @Test("an API's answer that breaks off is not taken for a whole one by its JSON", arguments: BrokenEnd.allCases)
  func api(_ end: BrokenEnd) async throws {
    try await LoopbackServer.with({ _ in end.reply(#"{"a":1}"#) }) { server in
      try await withSender(.kept, clock: ManualClock()) { sender in
        let request = HTTPSender.Request(url: server.url(), reading: .whole(limit: 1000))
        let isGiven = if case .success = await outcome(of: sender, request) { true } else { false }
        // Without TLS, the end of TCP is the end of a body that has no length.
        #expect(isGiven == (end == .cut))
      }
    }
  }

  // MARK: - Other answers

  private static let broken = [BrokenEnd.reset, .short, .unchunked]

  @Test("a discovery document counts if it is whole", arguments: broken)
  func discovery(_ end: BrokenEnd) async throws {
    try await ProviderBench.run { bench in
      let document = #"{"issuer":"\#(bench.base)","token_endpoint":"\#(bench.base)/token"}"#
      bench.provider.grant("/token")
      let place = "/.well-known/openid-configuration"
      bench.provider.answer(place, with: end.reply(String(document.dropLast())))
      let half = await bench.outcome(of: bench.oidc())
      #expect(
        half.outcome == .unavailable
          && half.message.contains(
            "the connection closed before the response was "
              + "complete")
      )
      bench.provider.answer(place, with: end.reply(document))
      #expect(await bench.outcome(of: bench.oidc()).outcome == .granted)
    }
  }

  @Test("so does an answer of the UserInfo endpoint", arguments: broken)
  func userInfo(_ end: BrokenEnd) async throws {
    try await ProviderBench.run { bench in
      bench.provider.discover(at: bench.server)
      let endpoint = bench.oidc()
      bench.provider.answer("/userinfo", with: end.reply(#"{"sub":"2482""#))
      #expect(await endpoint.identify(bench.credential()) == nil)
      bench.provider.answer("/userinfo", with: end.reply(#"{"sub":"2482"}"#))
      #expect(await endpoint.identify(bench.credential())?.id == "2482")
    }
  }

  @Test("so do the provider's keys", arguments: broken)
  func keys(_ end: BrokenEnd) async throws {
    try await SignInBench.run { bench in
      let keys = IDTokenMint.keySet([IDTokenMint.jwk(IDTokenMint.rsa.publicKey)])
      bench.provider.answer("/keys", with: end.reply(String(keys.dropLast())))
      let half = try await bench.failure { claims, _ in IDTokenMint.token(claims) }
      bench.provider.answer("/keys", with: end.reply(keys))
      let whole = try await bench.failure { claims, _ in IDTokenMint.token(claims) }
      #expect(half != nil && whole == nil)
    }
  }

  @Test("so does the code for another device", arguments: broken)
  func device(_ end: BrokenEnd) async throws {
    try await SignInBench.run { bench in
      bench.provider.answer("/device", with: end.reply(String(SignInBench.deviceExample.dropLast())))
      #expect(await bench.failure { try await bench.endpoint.beginDevice() }?.isUnavailable == true)
      bench.provider.answer("/device", with: end.reply(SignInBench.deviceExample))
      let signIn = try await bench.endpoint.beginDevice()
      #expect(signIn.userCode == "WDJB-MJHT")
    }
  }

  @Test("so does the answer to a pushed request", arguments: broken)
  func pushed(_ end: BrokenEnd) async throws {
    try await SignInBench.run { bench in
      let more = """
        ,"authorization_endpoint":"\(bench.base)/authorize","jwks_uri":"\(bench.base)/keys",
        "pushed_authorization_request_endpoint":"\(bench.base)/par"
        """
      bench.provider.discover(at: bench.bench.server, more: more)
      let answer = #"{"request_uri":"urn:example:1","expires_in":90}"#
      bench.provider.answer("/par", with: end.reply(String(answer.dropLast()), status: 201))
      #expect(await bench.failure { try await bench.begin() }?.isUnavailable == true)
      bench.provider.answer("/par", with: end.reply(answer, status: 201))
      let signIn = try await bench.begin()
      #expect(signIn.authorizationURL.contains("request_uri=urn%3Aexample%3A1"))
    }
  }

  @Test("a revocation is what its status says", arguments: broken)
  func revocation(_ end: BrokenEnd) async throws {
    try await ProviderBench.run { bench in
      bench.provider.discover(at: bench.server)
      bench.provider.answer("/revoke", with: end.reply("half"))
      #expect(await bench.oidc().revoke(bench.credential()) == .revoked)
    }
  }
}
