package import HearthCore
import NIOCore

/// Checks an account's token and, step by step, the connections to its provider and APIs. Runs in the daemon and uses
/// the account's route.
package struct HTTPAccountProbe: AccountProbe {
  private static let timeout: Duration = .seconds(10)
  /// The smallest clock difference, in seconds, to report as a problem. Few servers tolerate a larger one.
  private static let graveSkew = 60
  private static let noticedSkew = 5

  let provider: ProviderConfiguration
  let sender: HTTPSender
  let files: any FileSystem

  package init(_ provider: ProviderConfiguration, sender: HTTPSender, files: any FileSystem) {
    self.provider = provider
    self.sender = sender
    self.files = files
  }

  private var steps: NetworkSteps { NetworkSteps(timeout: Self.timeout) }

  package func checks(_ bearer: Bearer?, at origins: Set<Origin>) async -> [Diagnosis] {
    await providerChecks() + [tokenCheck(bearer)].compactMap(\.self) + apiChecks(bearer, at: origins)
  }

  // MARK: - The provider

  private func providerChecks() async -> [Diagnosis] {
    let origin = provider.binding.origin
    guard let url = provider.discoveryURL ?? (try? HTTPURL("\(origin)/")) else { return [] }
    var (found, response) = await way(to: url, as: .provider)
    guard let response else { return found }
    if provider.discoveryURL != nil {
      do {
        _ = try await provider.oauthEndpoints(sender: sender, files: files, timeout: Self.timeout)
        found.append(Diagnosis(.discovery, .ok, "\(url) lists the endpoints."))
      } catch { found.append(Diagnosis(.discovery, .problem, error.message)) }
    }
    found.append(clockCheck(response.skew, of: url.origin))
    return found
  }

  private func clockCheck(_ skew: Duration?, of origin: Origin) -> Diagnosis {
    guard let skew else {
      return Diagnosis(.clock, .warning, "\(origin) does not send the time, so the clock was not checked.")
    }
    let seconds = abs(skew.components.seconds)
    let side = skew > .zero ? "behind" : "ahead of"
    let apart = "This machine's clock is \(seconds) s \(side) the clock of \(origin)"
    if seconds >= Self.graveSkew {
      return Diagnosis(.clock, .problem, "\(apart). Correct it, for example with \"timedatectl set-ntp true\".")
    }
    if seconds >= Self.noticedSkew { return Diagnosis(.clock, .warning, apart + ".") }
    return Diagnosis(.clock, .ok, "This machine's clock agrees with the clock of \(origin).")
  }

  // MARK: - The token

  private func tokenCheck(_ bearer: Bearer?) -> Diagnosis? {
    guard let bearer else { return nil }
    guard let claims = JWTClaims(bearer.token.secret.reveal()) else {
      return Diagnosis(.token, .ok, "The token is opaque, so only its provider can read it.")
    }
    let now = sender.clock.now()
    var parts: [String] = []
    if let issuer = claims.issuer { parts.append("from \(issuer)") }
    if !claims.audiences.isEmpty { parts.append("for \(claims.audiences.joined(separator: ", "))") }
    let end = claims.expiresAt.map { Duration.seconds($0) - .milliseconds(now.milliseconds) }
    if let end {
      parts.append(
        end > .zero ? "valid for \(end.components.seconds) s" : "\(-end.components.seconds) s past its expiry")
    }
    let message =
      "The token is \(parts.isEmpty ? "a JWT without an issuer, audience or expiry" : parts.joined(separator: ", "))"
    if let end, end <= .zero {
      return Diagnosis(.token, .problem, "\(message), according to this machine's clock. Check the clock.")
    }
    let expected = provider.defaultIssuer
    if let issuer = claims.issuer, !expected.isAssumed, !IssuerName(expected.text).covers(issuer) {
      return Diagnosis(.token, .warning, "\(message), but the configured issuer is \(expected.text).")
    }
    return Diagnosis(.token, .ok, message + ".")
  }

  // MARK: - The APIs

  private func apiChecks(_ bearer: Bearer?, at origins: Set<Origin>) async -> [Diagnosis] {
    var found: [Diagnosis] = []
    for origin in origins.sorted(by: { $0.description < $1.description }) {
      guard let url = try? HTTPURL("\(origin)/") else { continue }
      found += await way(to: url, as: .api, bearer?.token).found
    }
    return found
  }

  // MARK: - Connecting to a server

  private enum Server {
    case provider, api

    var name: Diagnosis.Check { self == .provider ? .providerName : .apiName }
    var connection: Diagnosis.Check { self == .provider ? .providerConnection : .apiConnection }
    var answer: Diagnosis.Check { self == .provider ? .providerAnswer : .apiAnswer }
  }

  /// Runs the steps of a connection in order. If a step fails, skips the remaining steps and returns no response.
  private func way(
    to url: HTTPURL, as server: Server, _ token: Token? = nil
  ) async -> (found: [Diagnosis], response: HTTPResponse?) {
    var found: [Diagnosis] = []
    let plan: ConnectionPlan
    do {
      plan = try await provider.route.plan(for: url, files: files)
    } catch {
      return ([Diagnosis(server.connection, .problem, error.message)], nil)
    }
    let (host, port) = plan.place
    let place = plan.proxy.map { "the proxy \($0) for \(url.origin)" } ?? "\(url.origin)"
    let addresses: [SocketAddress]
    do {
      addresses = try await steps.addresses(of: host, port: port)
    } catch {
      let message = "Cannot resolve \(host) (\(error)). Check the name and the network."
      return ([Diagnosis(server.name, .problem, message)], nil)
    }
    found.append(Diagnosis(server.name, .ok, "Resolved \(host): \(addresses.map(\.place).joined(separator: ", "))."))
    do {
      let address = try await steps.connect(to: addresses)
      found.append(Diagnosis(server.connection, .ok, "Connected to \(place) at \(address.place)."))
    } catch {
      return (found + [Diagnosis(server.connection, .problem, "Cannot connect to \(place) (\(error)).")], nil)
    }
    do {
      let response = try await sender.send(
        HTTPSender.Request(
          url: url, headers: token.map { [.bearer($0)] } ?? [], reading: .statusSaysEnough,
          plan: plan),
        timeout: Self.timeout)
      return (found + [answer(response, of: url, as: server, token)], response)
    } catch {
      return (found + [Diagnosis(server.answer, .problem, "No response from \(error.message).")], nil)
    }
  }

  private func answer(_ response: HTTPResponse, of url: HTTPURL, as server: Server, _ token: Token?) -> Diagnosis {
    let answered = "\(url.origin) returned HTTP \(response.status)"
    switch server {
    case .provider:
      return Diagnosis(server.answer, response.status < 500 ? .ok : .problem, answered + ".")
    case .api:
      guard let token else { return Diagnosis(server.answer, .ok, "\(answered). There was no token to send.") }
      let shown = "\(answered) for GET / with the token"
      let known = APIResponse(status: response.status, headers: response.headers)
      if let challenge = Challenge(known, from: url.origin, without: [token.secret]) {
        return Diagnosis(server.answer, .warning, "\(shown). \(challenge.sentence)")
      }
      if response.status == 401 {
        return Diagnosis(
          server.answer, .problem, "\(shown)\(reason(known)), so it rejected the token. \(comparison(token))")
      }
      return Diagnosis(server.answer, .ok, "\(shown), so it did not reject the token.")
    }
  }

  /// Returns the API's reason for rejecting the token, in parentheses, or an empty string if the response contains no
  /// reason.
  private func reason(_ response: APIResponse) -> String {
    let fields = response.headers.filter { $0.name.lowercased() == "www-authenticate" }.map(\.value)
    return fields.lazy.compactMap(Challenge.reason).first.map { " (\($0))" } ?? ""
  }

  /// Describes the audience and scopes of the token and those that the account requests.
  private func comparison(_ token: Token) -> String {
    func both(_ audience: String?, _ scopes: String?) -> String {
      "audience \(audience ?? "none"), scopes \(scopes ?? "none")"
    }
    let asked = both(
      provider.requestedAudiences.sorted().joined(separator: " ").nonEmpty,
      (provider.kind.oauth?.client.scopes ?? []).joined(separator: " ").nonEmpty)
    guard let claims = JWTClaims(token.secret.reveal()) else {
      return "The token is opaque. Requested: \(asked)."
    }
    let found = both(claims.audiences.joined(separator: " ").nonEmpty, claims.scope)
    return "Token: \(found). Requested: \(asked)."
  }
}

extension String {
  fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
