import HearthCore
import TestSupport

@testable import HearthOAuth

extension FuzzTarget {
  private static let secret = "s3cret-0123456789abcdef"
  private static let statuses = [200, 201, 400, 401, 403, 404, 429, 500, 503]

  /// An answer of a provider. The first two bytes choose its status and its kind, the next line has its headers, and
  /// the rest is its body.
  static func readResponse(_ bytes: [UInt8]) throws {
    guard bytes.count >= 2, let provider else { return }
    let parts = bytes.dropFirst(2).split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
    let header = parts.first.map { String(decoding: $0, as: UTF8.self).streamSafe } ?? ""
    let response = HTTPResponse(
      status: statuses[Int(bytes[0]) % statuses.count],
      headers: ["Content-Type", "Retry-After", "Date"].map { APIRequest.Header(name: $0, value: header) },
      body: parts.count > 1 ? Array(parts[1]) : [], receivedAt: Timestamp(milliseconds: 1_700_000_000_000))
    _ = (response.retryAfter, response.skew, response.isPage)
    let demand = APIResponse(status: response.status, headers: [.init(name: "WWW-Authenticate", value: header)])
    if let challenge = Challenge(demand, from: provider.origin, without: [Secret(secret)]) {
      try expect(!"\(challenge)".contains(secret), "A challenge tells a secret that the server has repeated.")
    }
    do throws(RefreshFailure) {
      switch bytes[1] % 4 {
      case 0: _ = try provider.reader(.oauth).read(response)
      case 1: _ = try provider.reader(.firebase).read(response)
      case 2: _ = try provider.reader(.json(provider.backend)).read(response)
      default: _ = try provider.discovery.read(response)
      }
    } catch {
      guard !"\(error)".contains(secret) else {
        throw Wrong(description: "A failure tells a secret that the server has repeated.")
      }
    }
  }

  /// The provider that sends the answers.
  private static let provider: Provider? = try? Provider()

  private struct Provider {
    let origin: Origin
    let backend: JSONBackend
    let discovery: Discovery

    init() throws {
      origin = try HTTPURL("https://id.example.com/token").origin
      var backend = JSONBackend(refreshURL: try HTTPURL("https://id.example.com/auth/refresh"))
      backend.accessTokenField = "data.access_token"
      self.backend = backend
      // Sends nothing, because only `read` is called.
      discovery = Discovery(
        issuer: try Issuer("https://id.example.com"),
        sender: HTTPSender(connections: .fresh, userAgent: "fuzz", clock: ManualClock()),
        files: MemoryFileSystem(folders: [], now: { .distantFuture }), timeout: .seconds(1))
    }

    func reader(_ dialect: TokenResponseReader.Dialect) -> TokenResponseReader {
      TokenResponseReader(
        dialect: dialect, origin: origin, issuer: DefaultIssuer(assumed: origin), audiences: ["hearth"],
        defaultLifetime: .seconds(60), finalErrors: ["own_error"], redactor: Redactor([Secret(FuzzTarget.secret)]))
    }
  }
}
