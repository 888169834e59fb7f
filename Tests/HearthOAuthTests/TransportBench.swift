import FoundationEssentials
import HearthCore
import HearthHashing
import NIOSSL
import TestSupport

@testable import HearthOAuth

/// A token endpoint on loopback, perhaps with TLS, and accounts that ask it, for the length of a test.
struct TransportBench {
  let server: LoopbackServer
  let sender: HTTPSender
  let clock: ManualClock
  let files: MemoryFileSystem
  let scheme: String

  static func run(
    tls: TLSConfiguration? = nil, connections: HTTPSender.Connections = .fresh, clock: ManualClock = ManualClock(),
    authorities: SystemAuthorities = SystemAuthorities([:]),
    _ respond: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Reply = { _ in .granted },
    _ body: (TransportBench) async throws -> Void
  ) async throws {
    let files = MemoryFileSystem(folders: ["/etc"], now: { .sample })
    try await LoopbackServer.with(tls: tls, respond) { server in
      try await withSender(connections, clock: clock, authorities: authorities) { sender in
        try await body(
          TransportBench(
            server: server, sender: sender, clock: clock, files: files, scheme: tls == nil ? "http" : "https"))
      }
    }
  }

  func url(_ target: String = "/token", host: String = "127.0.0.1") -> HTTPURL {
    server.url(target, scheme: scheme, host: host)
  }

  func file(_ name: String, _ text: String, at path: String = "/etc/file") -> ClientFile {
    files.put(text, at: path)
    return ClientFile(name: name, path: path)
  }

  /// Trusts this authority, and perhaps another.
  func route(_ authority: TestAuthority, besides other: TestAuthority? = nil) throws -> HTTPRoute {
    var route = HTTPRoute()
    route.authorities = file("ca_file", try authority.pem + (other?.pem ?? ""), at: "/etc/ca.pem")
    return route
  }

  func endpoint(
    _ authentication: ClientAuthentication = .none, route: HTTPRoute = HTTPRoute(), host: String = "127.0.0.1",
    parameters: [String: String] = [:], offering change: (inout ProviderEndpoints) -> Void = { _ in }
  ) -> any TokenEndpoint {
    var endpoints = ProviderEndpoints(token: url(host: host), revocation: url("/revoke", host: host))
    change(&endpoints)
    return endpoint(
      .oauth(.named(endpoints), OAuthClient(id: "hearth", authentication: authentication)), route, parameters)
  }

  func endpoint(
    _ kind: ProviderConfiguration.Kind, _ route: HTTPRoute = HTTPRoute(), _ parameters: [String: String] = [:]
  ) -> any TokenEndpoint {
    var configuration = ProviderConfiguration(kind: kind)
    configuration.route = route
    configuration.tokenParameters = parameters
    return configuration.endpoints(sender: sender, files: files, timeout: .seconds(30)).tokens
  }

  var credential: Credential {
    Credential(
      grant: Grant(
        accessToken: Token(hashing: Secret("old-access")), refreshToken: Token(hashing: Secret("old-refresh")),
        issuedAt: clock.now(), expiresAt: nil), subject: nil, origin: nil)
  }

  /// How a refresh fails; nil where it brings a grant.
  func failure(of endpoint: any TokenEndpoint) async -> RefreshFailure? {
    do throws(RefreshFailure) {
      _ = try await endpoint.refresh(credential)
      return nil
    } catch {
      return error
    }
  }
}

extension LoopbackServer.Reply {
  static let granted = answer(
    200, headers: [("Content-Type", "application/json")], body: #"{"access_token":"new-access","expires_in":60}"#)

  static func refused(_ code: String, status: Int = 401) -> Self {
    answer(status, headers: [("Content-Type", "application/json")], body: #"{"error":"\#(code)"}"#)
  }
}

extension LoopbackServer.Request {
  /// The form in the body.
  var form: [String: String] {
    Dictionary(FormBody.decode(Array(body.utf8)) ?? []) { first, second in first + " twice: " + second }
  }
}
