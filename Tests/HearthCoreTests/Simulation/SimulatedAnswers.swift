import FoundationEssentials
import HearthCore
import TestSupport

@testable import HearthOAuth

/// The answers of the simulated provider, or of something in its place: bodies from the suite of real answers with the
/// simulation's tokens and lifetimes, parsed by the daemon's own reader.
struct SimulatedAnswers {
  enum Style: CaseIterable {
    /// As documented by the provider whose preset is used.
    case documented
    /// A backend's envelope with its own code.
    case envelope
    /// A token from a cache, whose own `exp` is the only source of its lifetime.
    case cachedJWT
  }

  let provider: String
  let style: Style
  /// Whether an ID token names the real issuer, which the credential may not know yet.
  let tellsIssuer: Bool

  private static let providers = Set(ProviderResponse.all.map(\.provider)).subtracting(["gateway", "firebase"]).sorted()

  init(_ random: inout SeededGenerator) {
    provider = Self.providers.randomElement(using: &random) ?? "google"
    style = Style.allCases.randomElement(using: &random) ?? .documented
    tellsIssuer = Bool.random(using: &random)
  }

  private var reader: TokenResponseReader {
    let preset = ProviderPreset.named(provider)
    var backend = JSONBackend(refreshURL: Self.url)
    backend.accessTokenField = "data.access_token"
    return TokenResponseReader(
      dialect: style == .envelope ? .json(backend) : .oauth, origin: .sample,
      issuer: DefaultIssuer(assumed: .sample), defaultLifetime: preset?.defaultLifetime,
      finalErrors: preset?.finalErrors ?? [], rules: (preset?.responseRules ?? []) + ProviderPreset.rulesOfAll,
      redactor: Redactor(EmptyCollection<Secret>()))
  }

  private static let url: HTTPURL = {
    guard let url = try? HTTPURL("https://id.example.com/token") else { preconditionFailure("it is a URL") }
    return url
  }()

  /// A grant as sent over the wire, and as read. `serverTime` is the provider's own clock. With `isSpoiled`, its access
  /// token is missing or invalid.
  func granting(
    _ issued: TokenResponse, serverTime: Timestamp, receivedAt now: Timestamp, isSpoiled: Bool = false,
    _ random: inout SeededGenerator
  ) -> RefreshOutcome {
    // No answer reports a lifetime of zero.
    let seconds = Swift.max(issued.lifetime.map { Int64($0.components.seconds) } ?? 1, 1)
    let second = serverTime.milliseconds / 1000
    let access =
      style == .cachedJWT
      ? jwt(["iat": .integer(second - 3600), "exp": .integer(second + seconds)])
      : issued.accessToken.secret.reveal()
    let refresh = issued.refreshToken?.secret.reveal()
    let subject = issued.subject ?? .sample
    let isMixedUp = subject.id != Subject.sample.id
    let id = jwt(["iss": .string(subject.issuer), "sub": .string(subject.id), "exp": .integer(second + seconds)])
    var body = template(withRefreshToken: refresh != nil, &random)
      .body(access: access, refresh: refresh ?? "", id: id, user: subject.id)
    if style == .envelope || JSONValue(parsing: Array(body.utf8)) == nil {
      body = Self.envelope(access: access, refresh: refresh)
    }
    var value = adjusted(
      JSONValue(parsing: Array(body.utf8)) ?? .null, seconds: seconds,
      refreshSeconds: issued.refreshLifetime.map { Int64($0.components.seconds) }, idToken: isMixedUp ? id : nil)
    if isSpoiled {
      let tokens: [JSONValue?] = [nil, .null, .string("a token"), .string("tök")]
      value = spoiled(value, by: tokens.randomElement(using: &random) ?? nil)
    }
    return read(
      200, value.serialized, headers: [APIRequest.Header(name: "Date", value: serverTime.httpDate)], at: now,
      instead: (access, issued.accessToken, refresh, issued.refreshToken))
  }

  /// A refusal of a dead token, and whether it is final.
  func refusing(at now: Timestamp, _ random: inout SeededGenerator) -> (outcome: RefreshOutcome, isFinal: Bool) {
    let answers = ProviderResponse.all.filter {
      $0.provider == provider && ($0.situation == .refused || $0.situation == .disabled)
    }
    guard style != .envelope, let answer = answers.randomElement(using: &random) else {
      return (read(401, Array(#"{"code":"token_expired","message":"sign in again"}"#.utf8), at: now), true)
    }
    return (read(answer, at: now), answer.meaning == .ends || answer.meaning == .endsDisabled)
  }

  /// A response about a token that is not final: the provider's, or that of a gateway before it.
  func troubling(
    _ situations: Set<ProviderResponse.Situation>, at now: Timestamp, _ random: inout SeededGenerator
  ) -> RefreshOutcome {
    let answers = ProviderResponse.all.filter { answer in
      // A backend's 401 and 403 are final if they hold an object.
      let isBackendsWord = [401, 403].contains(answer.status) && answer.hasObject
      if style == .envelope, isBackendsWord { return false }
      switch answer.meaning {
      case .misconfigured, .unclear, .unavailable:
        return situations.contains(answer.situation) && (answer.provider == provider || answer.provider == "gateway")
      case .grant, .ends, .endsDisabled: return false
      }
    }
    guard let answer = answers.randomElement(using: &random) else {
      return read(503, Array("<html>".utf8), at: now)
    }
    return read(answer, at: now)
  }

  // MARK: - Bodies

  private func template(withRefreshToken isRotated: Bool, _ random: inout SeededGenerator) -> ProviderResponse {
    let answers = ProviderResponse.all.filter { answer in
      guard case .grant(let rotated, _) = answer.meaning else { return false }
      return rotated == isRotated
    }
    guard
      let answer = answers.filter({ $0.provider == provider }).randomElement(using: &random)
        ?? answers.filter({ $0.provider == "microsoft" || $0.provider == "google" }).randomElement(using: &random)
    else { preconditionFailure("the suite has grants with a refresh token and without") }
    return answer
  }

  private static func envelope(access: String, refresh: String?) -> String {
    let rotated = refresh.map { #","refresh_token":"\#($0)""# } ?? ""
    return #"{"code":"OK","error_code":"0","data":{"access_token":"\#(access)"\#(rotated),"expires_in":1}}"#
  }

  /// Replaces the lifetimes in an answer by the provider's; a cached token has its own. `idToken` is added to the
  /// answer, whatever the template has.
  private func adjusted(
    _ value: JSONValue, seconds: Int64, refreshSeconds: Int64?, idToken: String?
  ) -> JSONValue {
    guard case .object(var members) = value else { return value }
    for (name, member) in members {
      switch name {
      case "expires_in" where style == .cachedJWT, "expires_in_sec" where style == .cachedJWT: members[name] = nil
      case "expires_in", "expires_in_sec":
        members[name] = if case .string = member { .string(String(seconds)) } else { .integer(seconds) }
      case "refresh_expires_in", "refresh_token_expires_in",
        "id_token" where !tellsIssuer:
        members[name] = nil
      default: members[name] = adjusted(member, seconds: seconds, refreshSeconds: refreshSeconds, idToken: idToken)
      }
    }
    guard members["access_token"] != nil else { return .object(members) }
    if let idToken { members["id_token"] = .string(idToken) }
    if let refreshSeconds { members["refresh_token_expires_in"] = .integer(refreshSeconds) }
    // An assumed lifetime cannot be compared with the provider's own count, so it is added.
    if style != .cachedJWT, members["expires_in"] == nil { members["expires_in"] = .integer(seconds) }
    return .object(members)
  }

  private func spoiled(_ value: JSONValue, by token: JSONValue?) -> JSONValue {
    guard case .object(var members) = value else { return value }
    for (name, member) in members { members[name] = name == "access_token" ? token : spoiled(member, by: token) }
    return .object(members)
  }

  private func jwt(_ claims: [String: JSONValue]) -> String {
    func part(_ value: JSONValue) -> String {
      Data(value.serialized).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        .replacing("=", with: "")
    }
    return part(.object(["alg": .string("none")])) + "." + part(.object(claims)) + ".c2ln"
  }

  // MARK: - Reading

  private func read(_ answer: ProviderResponse, at now: Timestamp) -> RefreshOutcome {
    read(
      answer.status, Array(answer.body().utf8),
      headers: answer.headers.sorted { $0.key < $1.key }.map { APIRequest.Header(name: $0.key, value: $0.value) },
      at: now)
  }

  /// `instead` holds the tokens as sent, and the tokens that the simulation uses for them.
  private func read(
    _ status: Int, _ body: [UInt8], headers: [APIRequest.Header] = [], at now: Timestamp,
    instead: (access: String, Token, refresh: String?, Token?)? = nil
  ) -> RefreshOutcome {
    let type = APIRequest.Header(name: "Content-Type", value: "application/json")
    let isTyped = headers.contains { $0.name.lowercased() == "content-type" }
    let answer = HTTPResponse(
      status: status, headers: isTyped ? headers : headers + [type], body: body, receivedAt: now)
    do throws(RefreshFailure) {
      var response = try reader.read(answer)
      if let (access, accessToken, refresh, refreshToken) = instead {
        if response.accessToken.secret.reveal() == access { response.accessToken = accessToken }
        if response.refreshToken?.secret.reveal() == refresh { response.refreshToken = refreshToken }
      }
      response.idToken = nil
      return .granted(response)
    } catch {
      return .failed(error)
    }
  }
}
