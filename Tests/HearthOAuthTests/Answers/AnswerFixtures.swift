import FoundationEssentials
import HearthCore
import Testing

@testable import HearthOAuth

/// A JWT of these claims; its signature is nobody's.
func jwt(_ claims: String) -> String {
  func encode(_ text: String) -> String {
    Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }
  return encode(#"{"alg":"RS256"}"#) + "." + encode(claims) + ".c2lnbmF0dXJl"
}

/// What became of an answer, without its message.
enum Outcome: Equatable {
  case granted
  case unavailable
  case rejected
  case disabled
  case unclear
  case misconfigured
  case unanswered

  init(_ failure: RefreshFailure) {
    self =
      switch failure {
      case .unreachable, .unavailable: .unavailable
      case .unanswered: .unanswered
      case .rejected(.refreshToken, _): .rejected
      case .rejected(.accountDisabled, _): .disabled
      case .unclear: .unclear
      case .misconfigured: .misconfigured
      }
  }
}

struct ResponseFact: CustomTestStringConvertible, Sendable {
  let fact: String
  let status: Int
  let body: String
  var type = "application/json"
  var isJSONAccount = false
  let expected: Outcome

  init(
    _ fact: String, _ status: Int, _ body: String, type: String = "application/json", json: Bool = false,
    _ expected: Outcome
  ) {
    (self.fact, self.status, self.body, self.type) = (fact, status, body, type)
    (self.isJSONAccount, self.expected) = (json, expected)
  }

  var testDescription: String { fact }
}

let oauthURL = "https://id.example.com/token"

func origin(_ text: String = oauthURL) -> Origin {
  guard let url = try? HTTPURL(text) else { preconditionFailure("the test's own URL is none") }
  return url.origin
}

/// When the answers of these tests come.
let answeredAt = Timestamp(rfc3339: "2026-11-21T10:00:00Z") ?? .distantFuture

func backend(_ change: (inout JSONBackend) -> Void = { _ in }) throws -> JSONBackend {
  var backend = JSONBackend(refreshURL: try HTTPURL("https://id.example.com/auth/refresh"))
  change(&backend)
  return backend
}

func reader(_ dialect: TokenResponseReader.Dialect = .oauth, secrets: [String] = []) -> TokenResponseReader {
  TokenResponseReader(
    dialect: dialect, origin: origin(), issuer: DefaultIssuer(assumed: origin()),
    redactor: Redactor(secrets.map { Secret($0) }))
}

func answer(_ body: String, status: Int = 200, headers: [(String, String)] = []) -> HTTPResponse {
  HTTPResponse(
    status: status, headers: headers.map { APIRequest.Header(name: $0.0, value: $0.1) }, body: Array(body.utf8),
    receivedAt: answeredAt)
}

extension TokenResponseReader {
  /// Why an answer is no grant; nil where it is one.
  func failure(_ answer: HTTPResponse) -> RefreshFailure? {
    do throws(RefreshFailure) {
      _ = try read(answer)
      return nil
    } catch {
      return error
    }
  }
}

extension RefreshFailure {
  /// What it tells a person.
  var message: String {
    switch self {
    case .unreachable(let message), .unavailable(let message, _), .unanswered(let message), .rejected(_, let message),
      .unclear(let message, _), .misconfigured(let message):
      message
    }
  }
}
