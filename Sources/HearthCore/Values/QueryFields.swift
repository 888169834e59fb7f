/// The decoded fields of a query (`application/x-www-form-urlencoded`; RFC 6749, appendix B).
package struct QueryFields: Sendable {
  private let fields: [(name: String, value: String)]

  /// Reads the query after the first `?` of a request's target, if there is one.
  package init(ofTarget target: String) {
    let query = target.firstIndex(of: "?").map { target[target.index(after: $0)...] } ?? ""
    fields = query.split(separator: "&").map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (Self.decode(parts[0]), parts.count > 1 ? Self.decode(parts[1]) : "")
    }
  }

  /// The value of a field, or `nil` if the field is missing, empty, or present more than once (RFC 6749, section 3.1).
  package subscript(name: String) -> String? {
    let values = fields.filter { $0.name == name }
    guard values.count == 1, let value = values.first?.value, !value.isEmpty else { return nil }
    return value
  }

  /// Whether the field is present with a value, however often (RFC 6749, section 3.1).
  package func has(_ name: String) -> Bool { fields.contains { $0.name == name && !$0.value.isEmpty } }

  /// A name that appears more than once.
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
