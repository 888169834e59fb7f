import HearthCore

@testable import HearthOAuth

extension FuzzTarget {
  private static let state = "s3cret-state-0123456789"

  /// Inputs during a sign-in. The first byte says which kind.
  static func readSignIn(_ bytes: [UInt8]) throws {
    guard let kind = bytes.first else { return }
    let rest = Array(bytes.dropFirst())
    switch kind % 4 {
    case 0: try readRedirect(rest)
    case 1: _ = signIn.read(address: String(decoding: rest, as: UTF8.self))
    case 2: try readStep(rest) { reader, response throws(TokenRejection) in _ = try reader.device(in: response) }
    default: try readStep(rest) { reader, response throws(TokenRejection) in _ = try reader.grant(in: response) }
    }
  }

  private static let signIn = BrowserSignIn(
    authorizationURL: "https://id.example.com/authorize", redirectURI: "http://127.0.0.1:4711/callback",
    state: Secret(state), nonce: Secret("n-0S6_WzA2Mj"), codeVerifier: Secret("v3rifier-0123456789abcdef"),
    issuer: .ifPresent("https://id.example.com"))

  /// A request to the loopback address: method, host and target, one per line.
  private static func readRedirect(_ bytes: [UInt8]) throws {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard lines.count == 3 else { return }
    let request = RedirectRequest(method: lines[0], host: lines[1], target: lines[2], sender: .user)
    switch signIn.read(request) {
    case .foreign, .untrusted: break
    case .unclaimedError(let message): try expectNoSecret(in: .failed(message: message))
    case .code(let code):
      guard lines[0] == "GET", lines[2].contains("state="), !code.isEmpty else {
        throw Wrong(description: "A code counts that is not the answer to the sign-in.")
      }
    case .failed(let failure), .scopeRefused(let failure, _): try expectNoSecret(in: failure)
    }
  }

  /// The provider's answer to a step. The first byte chooses its status, and the first line is its content type.
  private static func readStep(
    _ bytes: [UInt8], _ read: (TokenResponseReader, HTTPResponse) throws(TokenRejection) -> Void
  ) throws {
    guard let status = bytes.first, let origin = try? HTTPURL("https://id.example.com/token").origin else { return }
    let statuses = [200, 400, 401, 403, 404, 428, 429, 503]
    let parts = bytes.dropFirst().split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
    let type = parts.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
    let response = HTTPResponse(
      status: statuses[Int(status) % statuses.count], headers: [APIRequest.Header(name: "Content-Type", value: type)],
      body: parts.count > 1 ? Array(parts[1]) : [], receivedAt: Timestamp(milliseconds: 1_700_000_000_000))
    let reader = TokenResponseReader(
      dialect: .oauth, origin: origin, issuer: DefaultIssuer(assumed: origin), redactor: Redactor([Secret(state)]))
    do throws(TokenRejection) {
      try read(reader, response)
    } catch {
      for step in [SignInStep.pushedRequest, .code, .deviceCode, .poll, .password] {
        try expectNoSecret(in: error.signInFailure(of: origin, at: step))
      }
      switch Result(catching: { () throws(SignInFailure) in try error.reasonToPoll(at: origin) }) {
      case .failure(let failure): try expectNoSecret(in: failure)
      case .success(.unanswered(let message)): try expectNoSecret(in: .failed(message: message))
      case .success(.pending), .success(.slowDown): break
      }
    }
  }

  private static func expectNoSecret(in failure: SignInFailure) throws {
    guard !failure.message.contains(state) else {
      throw Wrong(description: "A failure of a sign-in tells a secret that was repeated.")
    }
  }
}

extension TokenResponseReader {
  fileprivate func device(in response: HTTPResponse) throws(TokenRejection) -> DeviceSignIn {
    let (object, rejection) = try object(in: response)
    return try DeviceSignIn(reading: object, else: rejection)
  }
}
