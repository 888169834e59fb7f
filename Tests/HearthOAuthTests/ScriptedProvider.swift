import HearthCore
import HearthHashing
import Synchronization
import TestSupport

@testable import HearthOAuth

/// A provider on loopback: a discovery document, and answers by path.
final class ScriptedProvider: Sendable {
  private let answers = Mutex<[String: LoopbackServer.Reply]>([:])
  private let document = Mutex<@Sendable (LoopbackServer) -> String>({ _ in "" })

  func answer(_ path: String, with reply: LoopbackServer.Reply) {
    answers.withLock { $0[path] = reply }
  }

  func grant(_ path: String, _ body: String = #"{"access_token":"new-access","expires_in":60}"#) {
    answer(path, with: .answer(200, headers: [("Content-Type", "application/json")], body: body))
  }

  /// The usual discovery document of a server, with these fields besides.
  func discover(at server: LoopbackServer, issuer: String? = nil, tokenPath: String = "/token", more: String = "") {
    let base = "http://127.0.0.1:\(server.port)"
    grant(
      "/.well-known/openid-configuration",
      """
      {"issuer":"\(issuer ?? base)","token_endpoint":"\(base)\(tokenPath)","revocation_endpoint":"\(base)/revoke",
       "userinfo_endpoint":"\(base)/userinfo"\(more)}
      """)
  }

  func reply(to request: LoopbackServer.Request) -> LoopbackServer.Reply {
    let path = String(request.target.prefix { $0 != "?" })
    return answers.withLock { $0[path] } ?? .answer(404)
  }
}

/// A provider, its server and a sender to it, for the length of a test.
struct ProviderBench {
  let provider: ScriptedProvider
  let server: LoopbackServer
  let sender: HTTPSender
  let clock: ManualClock
  let files: MemoryFileSystem

  static func run(_ body: (ProviderBench) async throws -> Void) async throws {
    let provider = ScriptedProvider()
    let clock = ManualClock()
    let files = MemoryFileSystem(folders: ["/etc"], now: { .sample })
    try await LoopbackServer.with({ provider.reply(to: $0) }) { server in
      try await withSender(.fresh, clock: clock) { sender in
        try await body(
          ProviderBench(provider: provider, server: server, sender: sender, clock: clock, files: files))
      }
    }
  }

  var base: String { "http://127.0.0.1:\(server.port)" }
  /// What was asked, without the discovery.
  var requests: [LoopbackServer.Request] { server.requests.filter { !$0.target.hasPrefix("/.well-known") } }

  func endpoint(
    _ kind: ProviderConfiguration.Kind, subject: String? = nil, defaultLifetime: Duration? = nil
  ) -> any TokenEndpoint {
    ProviderConfiguration(kind: kind, subject: subject, defaultLifetime: defaultLifetime)
      .endpoints(sender: sender, files: files, timeout: .seconds(30)).tokens
  }

  func oidc(
    secret: String? = nil, scopes: [String] = [], issuer: String? = nil, subject: String? = nil
  ) -> any TokenEndpoint {
    if let secret { files.put(secret, at: "/etc/secret") }
    let file = secret.map { _ in ClientFile(name: "client secret", path: "/etc/secret") }
    let client = OAuthClient(id: "hearth app", authentication: .automatic(file), scopes: scopes)
    guard let issuer = try? Issuer(issuer ?? base) else { preconditionFailure("the test's own issuer is none") }
    return endpoint(.oauth(.discovered(issuer), client), subject: subject)
  }

  func credential(
    refreshToken: String? = "old-refresh", idToken: String? = nil, subject: Subject? = nil, origin: Origin? = nil
  ) -> Credential {
    Credential(
      grant: Grant(
        accessToken: Token(hashing: Secret("old-access")),
        refreshToken: refreshToken.map { Token(hashing: Secret($0)) },
        idToken: idToken.map { Token(hashing: Secret($0)) }, issuedAt: clock.now(), expiresAt: nil),
      subject: subject, origin: origin)
  }

  /// The outcome of a refresh, and what it says.
  func outcome(
    of endpoint: any TokenEndpoint, _ credential: Credential? = nil
  ) async -> (outcome: Outcome, message: String) {
    do throws(RefreshFailure) {
      _ = try await endpoint.refresh(credential ?? self.credential())
      return (.granted, "")
    } catch {
      return (Outcome(error), "\(error)")
    }
  }
}
