/// The decoded fields of a query string (`application/x-www-form-urlencoded`; RFC 6749, appendix B).
package struct QueryFields: Sendable {
  private let fields: [(name: String, value: String)]

  /// Decodes the query of a request target.
  package init(ofTarget target: String) {
    let query = target.firstIndex(of: "?").map { target[target.index(after: $0)...] } ?? ""
    fields = query.split(separator: "&").map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (Self.decode(parts[0]), parts.count > 1 ? Self.decode(parts[1]) : "")
    }
  }

  /// The value of a field, or `nil` if the field is missing, empty or repeated (RFC 6749, section 3.1).
  package subscript(name: String) -> String? {
    let values = fields.filter { $0.name == name }
    guard values.count == 1, let value = values.first?.value, !value.isEmpty else { return nil }
    return value
  }

  /// Returns whether the field has a value, even if it is repeated (RFC 6749, section 3.1).
  package func has(_ name: String) -> Bool { fields.contains { $0.name == name && !$0.value.isEmpty } }

  /// The first repeated name, or `nil` if all names are unique.
  package var repeatedName: String? {
    var seen: Set<String> = []
    return fields.first { !seen.insert($0.name).inserted }?.name
  }

  private static func decode(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      let digits = rest.prefix(2)
      if byte == UInt8(ascii: "%"), digits.count == 2,
        let decoded = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
      {
        bytes.append(decoded)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self).streamSafe
  }
}
