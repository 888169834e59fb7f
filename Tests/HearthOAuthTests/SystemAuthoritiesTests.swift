import HearthCore
import TestSupport
import Testing

@testable import HearthOAuth

@Suite("The authorities that the environment names")
struct SystemAuthoritiesTests {
  /// How a refresh fails at a server of this authority.
  private func failure(
    at authority: TestAuthority, _ environment: [String: String], caFile: TestAuthority? = nil
  ) async throws -> RefreshFailure? {
    var failure: RefreshFailure?
    try await TransportBench.run(
      tls: try authority.identity().serverTLS(), authorities: SystemAuthorities(environment)
    ) { bench in
      let route = try caFile.map { try bench.route($0) } ?? HTTPRoute()
      failure = await bench.failure(of: bench.endpoint(route: route))
      #expect(bench.server.requests.count == (failure == nil ? 1 : 0))
    }
    return failure
  }

  private func isRefused(_ failure: RefreshFailure?, _ words: String) -> Bool {
    if case .unreachable(let message)? = failure { message.contains(words) } else { false }
  }

  @Test("SSL_CERT_FILE is trusted in place of the system's")
  func file() async throws {
    let (authority, other) = (try TestAuthority.root(), try TestAuthority.root("other"))
    let folder = TemporaryFolder()
    defer { folder.remove() }
    try Files.write(try authority.pem, to: folder.file("corporate.pem"))
    let environment = ["SSL_CERT_FILE": folder.file("corporate.pem")]
    #expect(try await failure(at: authority, environment) == nil)
    #expect(try await isRefused(failure(at: authority, [:]), "CERTIFICATE_VERIFY_FAILED"))
    #expect(try await isRefused(failure(at: other, environment), "CERTIFICATE_VERIFY_FAILED"))
  }

  @Test("every folder of SSL_CERT_DIR is trusted, whatever the names in it, besides SSL_CERT_FILE")
  func folders() async throws {
    let (authority, second, third) = (
      try TestAuthority.root(), try TestAuthority.root("2"), try TestAuthority.root("3")
    )
    let (folder, other) = (TemporaryFolder(), TemporaryFolder())
    defer {
      folder.remove()
      other.remove()
    }
    try Files.write(try authority.pem, to: folder.file("9d66eef0.0"))
    try Files.write("nothing", to: folder.file("README"))
    try Files.write(try second.pem, to: other.file("second.crt"))
    try Files.write(try third.pem, to: other.file("third.pem"))
    let environment = ["SSL_CERT_DIR": "/nowhere:\(folder.path):\(other.path)", "SSL_CERT_FILE": ""]
    for known in [authority, second, third] { #expect(try await failure(at: known, environment) == nil) }
    let both = ["SSL_CERT_DIR": folder.path, "SSL_CERT_FILE": other.file("third.pem")]
    for known in [authority, third] { #expect(try await failure(at: known, both) == nil) }
    #expect(try await isRefused(failure(at: second, both), "CERTIFICATE_VERIFY_FAILED"))
  }

  @Test("an account's ca_file is trusted in place of them")
  func caFile() async throws {
    let (authority, other) = (try TestAuthority.root(), try TestAuthority.root("other"))
    let folder = TemporaryFolder()
    defer { folder.remove() }
    try Files.write(try authority.pem, to: folder.file("corporate.pem"))
    let environment = ["SSL_CERT_FILE": folder.file("corporate.pem")]
    #expect(try await isRefused(failure(at: authority, environment, caFile: other), "CERTIFICATE_VERIFY_FAILED"))
    #expect(try await failure(at: other, environment, caFile: other) == nil)
  }

  @Test("where they hold no certificate nothing is trusted, and the variable is named")
  func nothing() async throws {
    let authority = try TestAuthority.root()
    let file = try await failure(at: authority, ["SSL_CERT_FILE": "/nowhere.pem"])
    #expect(isRefused(file, "SSL_CERT_FILE names /nowhere.pem, but this file contains no readable PEM certificate"))
    let folder = try await failure(at: authority, ["SSL_CERT_DIR": "/nowhere"])
    #expect(isRefused(folder, "SSL_CERT_DIR names /nowhere, but no readable PEM certificate was found there"))
  }
}
