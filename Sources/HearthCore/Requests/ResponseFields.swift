/// What header fields say about keeping an answer.
struct ResponseFields {
  private let headers: [APIRequest.Header]

  init(_ headers: [APIRequest.Header]) {
    self.headers = headers
  }

  /// The elements of a list field (RFC 9110, section 5.6.1). A comma inside quotes parts them too, which at worst makes two
  /// names of one that nobody knows.
  private func elements(_ name: String) -> [Substring] {
    headers.filter { $0.name.lowercased() == name }
      .flatMap { $0.value.split(separator: ",") }
      .map { $0.trimmed }.filter { !$0.isEmpty }
  }

  /// Directives by their names in lower case, with what they are set to (RFC 9111, section 5.2).
  func directives(_ name: String) -> [String: String] {
    let pairs = elements(name).map { element in
      let parts = element.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count == 2 ? String(parts[1].trimmed.filter { $0 != "\"" }) : ""
      return (parts[0].trimmed.lowercased(), value)
    }
    return Dictionary(pairs) { first, _ in first }
  }

  /// The names in `Vary`, sorted; nil where it says that no other request is like this one (RFC 9111, section 4.1).
  var selectors: [String]? {
    let names = Set(elements("vary").map { $0.lowercased() })
    // The token is the user's, of whom the key speaks; it changes with each refresh.
    return names.contains("*") ? nil : names.subtracting(["authorization"]).sorted()
  }

  var age: Duration { elements("age").first.flatMap { String($0).deltaSeconds } ?? .zero }
}

extension String {
  /// RFC 9111, section 1.2.2: one that is too large to be counted counts as 2^31.
  var deltaSeconds: Duration? {
    guard !isEmpty, utf8.allSatisfy(\.isASCIIDigit) else { return nil }
    return .seconds(min(Int64(self) ?? 1 << 31, 1 << 31))
  }
}

extension Substring {
  fileprivate var trimmed: Substring {
    let tail = drop { $0 == " " || $0 == "\t" }
    guard let last = tail.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
    return tail[...last]
  }
}
