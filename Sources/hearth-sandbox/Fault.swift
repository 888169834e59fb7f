import FoundationEssentials
import HTTPTypes
import Hummingbird

struct Fault: Codable, Hashable, Sendable {
  /// A prefix of the request's path. `nil` matches any path, which is allowed only for a fault with a mistake.
  var path: String?
  var method: String?
  var status: Int?
  /// The delay in seconds before the request is handled or refused.
  var delay: Double?
  /// Whether the request waits until a control request releases it.
  var hold: Bool?
  var hang: Bool?
  var drop: Bool?
  var body: String?
  var contentType: String?
  var headers: [String: String]?
  var echo: Bool?
  var redirect: String?
  var mistake: Mistake?
  /// Whether the request takes effect, or `nil` for the default (see `takesEffect`).
  var handle: Bool?
  /// The number of requests that the fault affects, or `nil` if the fault remains until it is cleared.
  var times: Int?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case path, method, status, delay, hold, hang, drop, body, contentType, headers, echo, redirect, mistake, handle
    case times
  }

  /// Whether the fault replaces the response.
  var hasResponse: Bool { status != nil || body != nil || echo == true || redirect != nil }

  var takesEffect: Bool { handle ?? !(hasResponse || hang == true) }

  func matches(_ call: Call) -> Bool {
    call.path.hasPrefix(path ?? "") && (method == nil || method?.uppercased() == call.method.rawValue)
      && mistake?.concerns(call) ?? true
  }

  /// Returns the response to `call`. `original` is the response without the fault, or `nil` if the request was not
  /// handled.
  func response(to call: Call, inPlaceOf original: Response?) -> Response {
    let response = unconditionalResponse(to: call, inPlaceOf: original)
    // Handle conditional requests (RFC 9110, section 13.1.2).
    guard let tag = response.headers[.eTag], call.headers[.ifNoneMatch] == tag, response.status == .ok else {
      return response
    }
    var headers = response.headers
    (headers[.contentType], headers[.contentLength]) = (nil, nil)
    return Response(status: .notModified, headers: headers)
  }

  private func unconditionalResponse(to call: Call, inPlaceOf original: Response?) -> Response {
    guard hasResponse || original == nil else { return adding(headers: original ?? Response(status: .ok)) }
    let sent = echo == true || body?.contains("{{sent}}") == true ? Self.secrets(in: call) : ""
    let status = HTTPResponse.Status(code: status ?? (redirect != nil ? 307 : 500))
    guard let body else {
      let description = "This fault was requested." + (sent.isEmpty ? "" : " Sent: \(sent)")
      return adding(headers: .json(ErrorBody("server_error", description), status: status))
    }
    return adding(
      headers: .text(
        body.replacing("{{sent}}", with: sent).utf8, contentType: contentType ?? "application/json", status: status))
  }

  private func adding(headers response: Response) -> Response {
    var response = response
    for (name, value) in headers ?? [:] {
      if let name = HTTPField.Name(name) { response.headers[name] = value }
    }
    if let redirect { response.headers[.location] = redirect }
    return response
  }

  /// Returns the credentials in a request, for a response that repeats them as a careless server would.
  private static func secrets(in call: Call) -> String {
    let names: Set = [
      "refresh_token", "token", "client_secret", "password", "access_token", "code", "code_verifier", "device_code",
    ]
    let fields = call.fields.filter { names.contains($0.key) }.sorted { $0.key < $1.key }
    return ([call.headers[.authorization]].compactMap(\.self) + fields.map { "\($0.key)=\($0.value)" })
      .joined(separator: " ")
  }
}

/// The remaining faults, in the order in which they were added.
struct FaultList: Codable, Sendable {
  var faults: [Fault] = []

  /// Returns the first fault that applies to this request. Removes the fault after its last use.
  mutating func next(for call: Call) -> Fault? {
    guard let index = faults.firstIndex(where: { $0.matches(call) }) else { return nil }
    let fault = faults[index]
    if let times = fault.times {
      if times <= 1 { faults.remove(at: index) } else { faults[index].times = times - 1 }
    }
    return fault
  }
}

/// A mistake that the provider makes, or a refusal that it returns, while it handles a request.
enum Mistake: String, CaseIterable, Codable, Hashable, Sendable {
  // Mistakes in the ID token. The checks in OpenID Connect Core, section 3.1.3.7, detect most of them.
  case wrongNonce, noNonce, algNone, unknownKey, wrongSignature, otherAudience, otherIssuer, expiredIDToken
  case wrongAtHash, noIDToken, otherSubject, otherParty
  /// Unusual ID tokens. In the first, `sub` is a number. In the second, `aud` names an additional API and `azp` is
  /// missing. Hearth accepts the second only if the account requests that audience.
  case numericSubject, twoAudiences
  // Mistakes in the redirect to the client (RFC 6749, section 4.1.2; RFC 9207, section 2).
  case wrongState, noState, wrongIss, noIss, noCode
  /// The provider reports a refusal, regardless of the user's decision.
  case denied
  /// Errors in the token endpoint's response to a code or to a poll.
  case replayedCode, expiredDeviceCode, slowDown

  /// Returns whether the mistake can be made while handling this request.
  func concerns(_ call: Call) -> Bool {
    let isBack = call.path == Endpoint.consent.rawValue && call.method == .post
    let isToken = Sandbox.tokenPaths.contains(call.path)
    let grantType = isToken ? call.fields["grant_type"] : nil
    return switch self {
    case .wrongNonce, .noNonce, .algNone, .unknownKey, .wrongSignature, .otherAudience, .otherIssuer, .expiredIDToken,
      .wrongAtHash, .noIDToken, .otherSubject, .otherParty, .numericSubject, .twoAudiences:
      isToken
    case .wrongState, .noState, .wrongIss, .noIss, .noCode: isBack
    case .denied: isBack || grantType == DeviceCodes.grantType
    case .replayedCode: grantType == "authorization_code"
    case .expiredDeviceCode, .slowDown: grantType == DeviceCodes.grantType
    }
  }
}
