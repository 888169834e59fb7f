import ArgumentParser
import HearthControl

/// The parts of an HTTP request that `request` and `outbox add` take alike.
struct HTTPOptions: ParsableArguments {
  @Argument(help: "The account whose token goes with it.")
  var account: String

  @Argument(help: "GET, POST, PUT …")
  var method: String

  @Argument(help: "At one of the account's api_origins.")
  var url: String

  @Option(
    name: .shortAndLong, help: ArgumentHelp("The body: a text, @FILE, or - for standard input.", valueName: "data"))
  var data: String?

  @Option(name: [.customShort("H"), .long], help: ArgumentHelp("A header field.", valueName: "name: value"))
  var header: [String] = []

  func params() throws -> JSONObject {
    var params: JSONObject = ["account": .string(account), "method": .string(method), "url": .string(url)]
    if !header.isEmpty { params["headers"] = .object(try headers()) }
    if let body = try body() {
      if let text = String(validating: body, as: UTF8.self) {
        params["body"] = .string(text)
      } else {
        params["bodyBase64"] = .string(Base64.encode(body))
      }
    }
    return params
  }

  private func headers() throws -> JSONObject {
    var headers = JSONObject()
    for field in header {
      guard let colon = field.firstIndex(of: ":"), colon > field.startIndex else {
        throw ValidationError("A header is written 'Name: value', not '\(field)'.")
      }
      let name = String(field[..<colon])
      let value = JSON.string(field[field.index(after: colon)...].trimmingBlanks())
      switch headers[name] {
      case nil: headers[name] = value
      case .array(let values): headers[name] = .array(values + [value])
      case let first?: headers[name] = [first, value]
      }
    }
    return headers
  }

  private func body() throws -> [UInt8]? {
    guard let data else { return nil }
    if data == "-" { return try Input.all() }
    if data.hasPrefix("@") { return try Input.file(String(data.dropFirst())) }
    return Array(data.utf8)
  }
}

extension StringProtocol {
  /// Without white space at both ends.
  func trimmingBlanks() -> String {
    let tail = drop { $0.isWhitespace }
    guard let last = tail.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return String(tail[...last])
  }
}
