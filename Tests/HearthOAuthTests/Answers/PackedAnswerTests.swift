import CryptoExtras
import HearthCore
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPCompression
import TestSupport
import Testing

@testable import HearthOAuth

/// The bytes as gzip or zlib packs them.
func packed(_ bytes: [UInt8], as coding: String = "gzip") throws -> [UInt8] {
  let channel = EmbeddedChannel(handler: HTTPResponseCompressor())
  let request = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: ["Accept-Encoding": coding])
  try channel.writeInbound(HTTPServerRequestPart.head(request))
  try channel.writeInbound(HTTPServerRequestPart.end(nil))
  try channel.writeOutbound(HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .ok)))
  try channel.writeOutbound(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: bytes))))
  try channel.writeOutbound(HTTPServerResponsePart.end(nil))
  var result: [UInt8] = []
  while let part = try channel.readOutbound(as: HTTPServerResponsePart.self) {
    if case .body(.byteBuffer(let piece)) = part { result += piece.readableBytesView }
  }
  _ = try channel.finish(acceptAlreadyClosed: true)
  return result
}

@Suite("Answers of a provider that are packed, though nobody asked for that") struct PackedAnswerTests {
  private static let grant =
    #"{"access_token":"a2","refresh_token":"r2","token_type":"Bearer","expires_in":3600,"scope":"a b"}"#

  private static func reply(
    _ body: [UInt8], coding: String? = "gzip", status: Int = 200, extraLength: Int = 0
  ) -> LoopbackServer.Reply {
    let field = coding.map { "Content-Encoding: \($0)\r\n" } ?? ""
    let head = """
      HTTP/1.1 \(status) X\r\nContent-Type: application/json\r\n\(field)Content-Length: \(body.count + extraLength)\r\n\r\n
      """
    return .rawBytes(Array(head.utf8) + body)
  }

  /// How a refresh ends that is answered so.
  private func refresh(_ reply: LoopbackServer.Reply) async throws -> (TokenResponse?, RefreshFailure?) {
    var result: (TokenResponse?, RefreshFailure?)
    try await TransportBench.run({ _ in reply }) { bench in
      do throws(RefreshFailure) {
        result.0 = try await bench.endpoint().refresh(bench.credential)
      } catch {
        result.1 = error
      }
      #expect(bench.server.requests.first?.headers["Accept-Encoding"] == ["identity"])
    }
    return result
  }

  @Test(
    "a grant is read, whether a header tells of the packing or not",
    arguments: [("gzip", "gzip"), ("GZIP", "gzip"), ("x-gzip", "gzip"), (nil, "gzip"), ("deflate", "deflate")]
      as [(String?, String)])
  func grant(_ coding: String?, _ form: String) async throws {
    let (response, failure) = try await refresh(Self.reply(packed(Array(Self.grant.utf8), as: form), coding: coding))
    #expect(failure == nil)
    #expect(response?.accessToken.secret == Secret("a2") && response?.refreshToken?.secret == Secret("r2"))
    #expect(response?.lifetime == .seconds(3600))
  }

  @Test("one that is not packed is read whatever its header tells", arguments: ["gzip", "deflate", "br"])
  func unpacked(_ coding: String) async throws {
    let (response, failure) = try await refresh(Self.reply(Array(Self.grant.utf8), coding: coding))
    #expect(failure == nil && response?.refreshToken?.secret == Secret("r2"))
  }

  @Test("a refusal is read")
  func refusal() async throws {
    let body = try packed(Array(#"{"error":"invalid_grant"}"#.utf8))
    let (_, failure) = try await refresh(Self.reply(body, status: 400))
    #expect(failure.map { Outcome($0) } == .rejected)
  }

  @Test(
    "what unpacks to more than a provider may answer is refused as that is unpacked", arguments: [2 << 20, 16 << 20])
  func bomb(_ count: Int) async throws {
    let blank = [UInt8](repeating: 0x20, count: count)
    let body = try packed(Array(Self.grant.utf8) + blank)
    #expect(body.count < 1 << 17)
    let (_, failure) = try await refresh(Self.reply(body))
    let (_, plain) = try await refresh(Self.reply(Array(Self.grant.utf8) + blank.prefix(2 << 20), coding: nil))
    #expect(failure?.message.hasSuffix("with a response of more than 1 MiB.") == true)
    #expect(failure?.message.suffix(40) == plain?.message.suffix(40))
  }

  @Test("what is damaged or packed otherwise is no grant, and the sentence names the packing")
  func damaged() async throws {
    let body = try packed(Array(Self.grant.utf8))
    let cases: [([UInt8], String?, String)] = [
      (Array(body.prefix(30)), nil, "gzip"), (Array(body.prefix(2)), "gzip", "gzip"),
      ([0x1F, 0x8B] + Array("{}".utf8), "gzip", "gzip"), ([0x1B, 0x2E, 0, 0xF8], "br", "br"),
      ([0x28, 0xB5, 0x2F, 0xFD], "zstd", "zstd"),
    ]
    for (bytes, coding, name) in cases {
      let (_, failure) = try await refresh(Self.reply(bytes, coding: coding))
      #expect(failure.map { Outcome($0) } == .unavailable, "\(name)")
      #expect(failure?.message.contains("in the encoding \(name), which Hearth cannot decode") == true, "\(name)")
    }
  }

  @Test("one that is packed and breaks off counts if all of it has come, and else is no answer")
  func brokenOff() async throws {
    let body = try packed(Array(Self.grant.utf8))
    let whole = try await refresh(Self.reply(body, extraLength: 5))
    #expect(whole.1 == nil && whole.0?.refreshToken?.secret == Secret("r2"))
    let half = try await refresh(Self.reply(Array(body.prefix(30)), extraLength: 5))
    #expect(half.1.map { Outcome($0) } == .unanswered)
  }

  @Test("an API's answer is given as it came, also over a connection that is used once")
  func api() async throws {
    let body = try packed(Array("{}".utf8))
    try await LoopbackServer.with({ _ in Self.reply(body) }) { server in
      try await withSender(.fresh, clock: ManualClock()) { sender in
        let request = HTTPSender.Request(url: server.url(), reading: .whole(limit: 1000))
        let response = try await sender.send(request, timeout: .seconds(30))
        #expect(response.body == body && response.header("Content-Encoding") == "gzip")
      }
    }
  }

  @Test("discovery, keys, UserInfo, pushed requests and codes for devices are read")
  func others() async throws {
    func reply(_ text: String, status: Int = 200) throws -> LoopbackServer.Reply {
      Self.reply(try packed(Array(text.utf8)), status: status)
    }
    try await SignInBench.run { bench in
      let base = bench.base
      bench.provider.answer(
        "/.well-known/openid-configuration",
        with: try reply(
          """
          {"issuer":"\(base)","token_endpoint":"\(base)/token","authorization_endpoint":"\(base)/authorize",
           "userinfo_endpoint":"\(base)/userinfo","jwks_uri":"\(base)/keys","device_authorization_endpoint":"\(base)/device",
           "pushed_authorization_request_endpoint":"\(base)/par"}
          """))
      let keys = IDTokenMint.keySet([IDTokenMint.jwk(IDTokenMint.rsa.publicKey)])
      bench.provider.answer("/keys", with: try reply(keys))
      bench.provider.answer("/par", with: try reply(#"{"request_uri":"urn:example:1","expires_in":90}"#, status: 201))
      bench.provider.answer("/device", with: try reply(SignInBench.deviceExample))
      bench.provider.answer("/userinfo", with: try reply(#"{"sub":"2482"}"#))
      let failure = try await bench.failure { claims, signIn in
        signIn.authorizationURL.contains("urn%3Aexample%3A1") ? IDTokenMint.token(claims) : nil
      }
      #expect(failure == nil)
      let device = try await bench.endpoint.beginDevice()
      #expect(device.userCode == "WDJB-MJHT")
      #expect(await bench.bench.oidc().identify(bench.bench.credential())?.id == "2482")
    }
  }
}
