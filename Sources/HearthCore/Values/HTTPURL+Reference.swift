extension HTTPURL {
  /// What a reference means that stands in an answer to a request for this URL, such as `Location`: RFC 3986, section 5.2.
  /// The fragment is for the reader of the answer and is left out (RFC 9110, section 10.2.2).
  package func resolving(_ reference: String) throws(ParseError) -> HTTPURL {
    let reference = reference.prefix { $0 != "#" }
    if Self.hasScheme(reference) { return try HTTPURL(String(reference)) }
    if reference.hasPrefix("//") { return try HTTPURL("\(origin.scheme):\(reference)") }
    let path = target.prefix { $0 != "?" }
    if reference.isEmpty { return self }
    if reference.first == "?" { return try HTTPURL("\(origin)\(path)\(reference)") }
    let query = reference.drop { $0 != "?" }
    let folder = reference.first == "/" ? "" : path[...(path.lastIndex(of: "/") ?? path.startIndex)]
    return try HTTPURL("\(origin)\(Self.withoutDots(folder + reference.prefix { $0 != "?" }))\(query)")
  }

  /// RFC 3986, section 3.1.
  private static func hasScheme(_ reference: Substring) -> Bool {
    let name = reference.utf8.prefix { $0.isASCIILetter || $0.isASCIIDigit || "+-.".utf8.contains($0) }
    return name.first?.isASCIILetter == true && reference.utf8.dropFirst(name.count).first == UInt8(ascii: ":")
  }

  /// RFC 3986, section 5.2.4. `path` begins with a slash.
  private static func withoutDots(_ path: Substring) -> String {
    var kept: [Substring] = []
    let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    for segment in segments {
      switch segment {
      case ".": break
      case "..": _ = kept.popLast()
      default: kept.append(segment)
      }
    }
    if segments.last == "." || segments.last == ".." { kept.append("") }
    return "/" + kept.joined(separator: "/")
  }
}
