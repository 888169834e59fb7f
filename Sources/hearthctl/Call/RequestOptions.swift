import ArgumentParser
import HearthCore

/// The options of verbs that send or queue a request.
struct RequestOptions: ParsableArguments {
  @Argument(
    help: "Account whose token to use (default: see \"hearthctl which URL\").",
    completion: Completions.accounts)
  var account: String

  @Argument(help: "HTTP method, such as GET or POST.", completion: .list(["GET", "POST", "PUT", "PATCH", "DELETE"]))
  var method: String

  @Argument(help: "URL whose origin is one of the account's api_origins.")
  var url: String?

  @OptionGroup var option: AccountOption

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Request body: text, or @FILE (@- or - for standard input).", valueName: "data"))
  var data: String?

  @Option(
    name: [.customShort("H"), .long],
    help: ArgumentHelp(
      "Header field, or @FILE with one per line (@- for standard input).", valueName: "name: value"))
  var header: [String] = []

  /// Methods that are accepted in lower case too, although HTTP methods are case-sensitive (RFC 9110, section 9.1).
  private static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

  /// The account, or `nil` for the default account, the method and the URL. If the user omits the account, the first
  /// two arguments are the method and the URL.
  var target: (account: String?, method: String, url: String) {
    let (name, verb, place) = url.map { (account, method, $0) } ?? (option.account, account, method)
    let upper = verb.uppercased()
    return (name, Self.methods.contains(upper) ? upper : verb, place)
  }

  /// Throws if the options do not describe a request.
  func check() throws {
    let (account, method, url) = target
    // Catch a missing URL here, because otherwise the account and the method would be mistaken for a method and a URL.
    guard account != nil || url.contains("://") else {
      throw ValidationError("The URL is missing or does not begin with https://: \(url.shown())")
    }
    guard DraftRules.isToken(method) else { throw ValidationError("\(method.quotedName) is not an HTTP method.") }
    guard header.count(where: { $0 == "@-" }) + (bodyFile == "-" ? 1 : 0) <= 1 else {
      throw ValidationError("Standard input can be read only once. Pass the headers or the body in a file.")
    }
  }

  func headers() throws -> [APIRequest.Header] {
    try header.flatMap { field in
      if field.hasPrefix("@") { return try headers(in: String(field.dropFirst())) }
      guard let header = APIRequest.Header(line: field) else {
        throw ValidationError("A header must have the form 'Name: value', but '\(field)' does not.")
      }
      return [header]
    }
  }

  /// Reads headers from a file, one per line, so that secrets need not appear on the command line. Ignores empty lines.
  /// Errors do not quote the file.
  private func headers(in file: String) throws -> [APIRequest.Header] {
    let bytes = file == "-" ? try Input.all() : try Input.file(file)
    let place = file == "-" ? "standard input" : file
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return try zip(1..., lines).compactMap { number, bytes in
      let line = String(decoding: bytes, as: UTF8.self).trimmingBlanks()
      if line.isEmpty { return nil }
      guard let header = APIRequest.Header(line: line) else {
        throw ValidationError("Line \(number) of \(place) is not a header. It must have the form 'Name: value'.")
      }
      return header
    }
  }

  /// The path of the file that contains the body, `-` for standard input, or `nil` if the body is not in a file. As in
  /// curl, `@-` is standard input, not a file named `-`.
  private var bodyFile: String? {
    guard let data else { return nil }
    if data == "-" { return data }
    return data.hasPrefix("@") ? String(data.dropFirst()) : nil
  }

  /// Returns the body to stream, or `nil` if the request has no body.
  func streamedBody() throws -> RequestBody? {
    if let bodyFile { return try RequestBody(path: bodyFile) }
    return data.map { RequestBody(Array($0.utf8)) }
  }

  func body() throws -> [UInt8] {
    if let bodyFile { return bodyFile == "-" ? try Input.all() : try Input.file(bodyFile) }
    return Array((data ?? "").utf8)
  }
}

extension APIRequest.Header {
  /// Parses `Name: value`, or returns `nil` if the line is not a header.
  fileprivate init?(line: String) {
    guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else { return nil }
    self.init(name: String(line[..<colon]), value: line[line.index(after: colon)...].trimmingBlanks())
  }
}

extension StringProtocol {
  func trimmingBlanks() -> String {
    let tail = drop { $0.isWhitespace }
    guard let last = tail.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return String(tail[...last])
  }
}

extension String {
  /// The URL with its scheme, which is `https` if the user omitted it. Some tools alter `//` in commands, so users must
  /// omit the scheme there.
  var withScheme: String { contains("://") ? self : "https://\(self)" }
}
