import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore

struct Call: Sendable {
  let method: HTTPRequest.Method
  let path: String
  let query: [String: String]
  let headers: HTTPFields
  let body: Data
  /// The mistake to make while handling the request.
  var mistake: Mistake?

  init(_ request: Request, body: ByteBuffer) {
    method = request.method
    path = request.uri.path
    query = formFields(request.uri.query ?? "")
    headers = request.headers
    self.body = Data(body.readableBytesView)
  }

  /// The token in `Authorization: Bearer …` (RFC 6750, section 2.1).
  var bearer: String? { credentials(of: "bearer") }

  /// The credentials in `Authorization: Basic …`, decoded (RFC 6749, section 2.3.1).
  var basic: (id: String, secret: String)? {
    guard let text = credentials(of: "basic"), let data = Data(base64Encoded: text) else { return nil }
    let parts = String(decoding: data, as: UTF8.self).split(
      separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    return (formDecoded(parts[0]), formDecoded(parts[1]))
  }

  var isJSON: Bool { headers[.contentType]?.lowercased().hasPrefix("application/json") ?? false }

  /// The fields of a JSON object of strings or, without a JSON content type, of a form. Empty for any other JSON.
  var fields: [String: String] {
    if isJSON { return (try? JSONDecoder().decode([String: String].self, from: body)) ?? [:] }
    return formFields(String(decoding: body, as: UTF8.self))
  }

  /// Returns the value of a cookie (RFC 6265, section 4.2).
  func cookie(_ name: String) -> String? {
    let pairs = headers[values: .cookie].flatMap { header in header.split(separator: ";") }
    for pair in pairs {
      let pair = pair.drop { $0 == " " }
      if pair.hasPrefix(name + "=") { return String(pair.dropFirst(name.count + 1)) }
    }
    return nil
  }

  private func credentials(of scheme: String) -> String? {
    guard let header = headers[.authorization] else { return nil }
    let parts = header.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == scheme else { return nil }
    return String(parts[1])
  }
}

/// Parses `application/x-www-form-urlencoded`. If a field occurs twice, the first value is used.
private func formFields(_ text: String) -> [String: String] {
  let pairs = text.split(separator: "&").map { pair in
    let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    return (formDecoded(parts[0]), parts.count == 2 ? formDecoded(parts[1]) : "")
  }
  return Dictionary(pairs) { first, _ in first }
}

/// Decodes a name or value in `application/x-www-form-urlencoded`.
private func formDecoded(_ text: Substring) -> String {
  var bytes: [UInt8] = []
  var rest = Array(text.utf8)[...]
  while let byte = rest.popFirst() {
    switch byte {
    case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
    case UInt8(ascii: "%"):
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      guard digits.utf8.count == 2, let value = UInt8(digits, radix: 16) else { fallthrough }
      bytes.append(value)
      rest = rest.dropFirst(2)
    default: bytes.append(byte)
    }
  }
  return String(decoding: bytes, as: UTF8.self)
}

extension Response {
  /// Returns a JSON response, by default with its keys in snake case.
  static func json(
    _ value: some Encodable, keys: JSONEncoder.KeyEncodingStrategy = .convertToSnakeCase,
    status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
  ) -> Response {
    guard let data = try? encoded(value, keys: keys) else { return Response(status: .internalServerError) }
    return .text(data, contentType: "application/json", status: status, headers: headers)
  }

  static func redirect(_ status: HTTPResponse.Status, to address: String, headers: HTTPFields = [:]) -> Response {
    var headers = headers
    headers[.location] = address
    headers[.cacheControl] = "no-store"
    return Response(status: status, headers: headers)
  }

  static func text(
    _ body: some Sequence<UInt8>, contentType: String, status: HTTPResponse.Status, headers: HTTPFields = [:]
  ) -> Response {
    var headers = headers
    headers[.contentType] = contentType
    headers[.cacheControl] = "no-store"
    return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
  }
}

/// A JSON value, for objects whose values have several types.
enum Value: Encodable {
  case text(String), number(Int), flag(Bool), list([Value]), object([String: Value])

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .text(let text): try container.encode(text)
    case .number(let number): try container.encode(number)
    case .flag(let flag): try container.encode(flag)
    case .list(let values): try container.encode(values)
    case .object(let members): try container.encode(members)
    }
  }
}

func encoded(_ value: some Encodable, keys: JSONEncoder.KeyEncodingStrategy = .useDefaultKeys) throws -> Data {
  let encoder = JSONEncoder()
  encoder.keyEncodingStrategy = keys
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return try encoder.encode(value)
}

/// An error response in the form `{"error": …, "error_description": …}` (RFC 6749, section 5.2).
struct ErrorBody: Codable, Error, Hashable, Sendable {
  let error: String
  let errorDescription: String

  init(_ error: String, _ description: String) {
    (self.error, errorDescription) = (error, description)
  }
}
