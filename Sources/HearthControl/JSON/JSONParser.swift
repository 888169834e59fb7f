import HearthCore

/// A syntax error in JSON text.
package struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
  package let reason: String
  /// The position of the error, in bytes from the start.
  package let offset: Int

  package var description: String { "\(reason) at byte \(offset)" }
}

extension JSON {
  /// The deepest nesting of arrays and objects that the parser accepts.
  package static let maximumDepth = 128

  /// Parses exactly one value (RFC 8259) from UTF-8. In addition to syntax errors, throws if the value is nested more
  /// than 128 levels deep or, unless `allowsTwins` is set, if a key occurs twice in an object.
  package init(parsing bytes: [UInt8], allowsTwins: Bool = false) throws {
    self = try bytes.withUnsafeBufferPointer { buffer in
      var parser = JSONParser(bytes: buffer, allowsTwins: allowsTwins)
      return try parser.document()
    }
  }

  package init(parsing text: String) throws { try self.init(parsing: Array(text.utf8)) }
}

/// A recursive descent parser. The caller must keep `bytes` alive while the parser is in use.
private struct JSONParser {
  let bytes: UnsafeBufferPointer<UInt8>
  let allowsTwins: Bool
  var offset = 0

  mutating func document() throws -> JSON {
    let value = try value(depth: 0)
    skipWhitespace()
    guard offset == bytes.count else { throw failure("unexpected text after the value") }
    return value
  }

  private func failure(_ reason: String) -> JSONError { JSONError(reason: reason, offset: offset) }

  private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private mutating func skipWhitespace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
  }

  private mutating func value(depth: Int) throws -> JSON {
    skipWhitespace()
    guard let byte = next else { throw failure("unexpected end") }
    switch byte {
    case UInt8(ascii: "{"): return .object(try object(depth: depth + 1))
    case UInt8(ascii: "["): return .array(try array(depth: depth + 1))
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: throw failure("unexpected character")
    }
  }

  private mutating func word(_ word: StaticString, _ value: JSON) throws -> JSON {
    let count = word.utf8CodeUnitCount
    guard bytes.count - offset >= count, (0..<count).allSatisfy({ bytes[offset + $0] == word.utf8Start[$0] }) else {
      throw failure("unexpected character")
    }
    offset += count
    return value
  }

  private mutating func array(depth: Int) throws -> [JSON] {
    guard depth <= JSON.maximumDepth else { throw failure("nested too deeply") }
    offset += 1
    var elements: [JSON] = []
    skipWhitespace()
    if next == UInt8(ascii: "]") {
      offset += 1
      return elements
    }
    while true {
      elements.append(try value(depth: depth))
      skipWhitespace()
      switch next {
      case UInt8(ascii: ","): offset += 1
      case UInt8(ascii: "]"):
        offset += 1
        return elements
      default: throw failure("expected , or ]")
      }
    }
  }

  private mutating func object(depth: Int) throws -> JSONObject {
    guard depth <= JSON.maximumDepth else { throw failure("nested too deeply") }
    offset += 1
    var members: [JSONObject.Member] = []
    // Filled only if the object becomes too large for a linear search.
    var seen: Set<[UInt8]> = []
    skipWhitespace()
    if next == UInt8(ascii: "}") {
      offset += 1
      return JSONObject(members)
    }
    // The number of members of a call.
    members.reserveCapacity(4)
    while true {
      skipWhitespace()
      guard next == UInt8(ascii: "\"") else { throw failure("expected a key") }
      let start = offset
      let key = try string()
      if !allowsTwins {
        if members.count == 16 { seen = Set(members.map { Array($0.key.utf8) }) }
        let isNew =
          members.count < 16
          ? !members.contains { $0.key.hasSameBytes(as: key) } : seen.insert(Array(key.utf8)).inserted
        guard isNew else { throw JSONError(reason: "duplicate key", offset: start) }
      }
      skipWhitespace()
      guard next == UInt8(ascii: ":") else { throw failure("expected :") }
      offset += 1
      members.append(JSONObject.Member(key: key, value: try value(depth: depth)))
      skipWhitespace()
      switch next {
      case UInt8(ascii: ","): offset += 1
      case UInt8(ascii: "}"):
        offset += 1
        return JSONObject(members)
      default: throw failure("expected , or }")
      }
    }
  }

  private mutating func number() throws -> String {
    let start = offset
    if next == UInt8(ascii: "-") { offset += 1 }
    if next == UInt8(ascii: "0") { offset += 1 } else { try digits() }
    if next == UInt8(ascii: ".") {
      offset += 1
      try digits()
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      offset += 1
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { offset += 1 }
      try digits()
    }
    return String(decoding: bytes[start..<offset], as: UTF8.self)
  }

  /// Skips one or more digits.
  private mutating func digits() throws {
    let start = offset
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { offset += 1 }
    guard offset > start else { throw failure("expected a digit") }
  }

  private mutating func string() throws -> String {
    offset += 1
    let start = offset
    skipPlainText()
    switch next {
    case UInt8(ascii: "\""):
      let text = try text(bytes[start..<offset])
      offset += 1
      return text
    case UInt8(ascii: "\\"): return try escapedString(from: start)
    case nil: throw failure("unexpected end")
    default: throw failure("control character in a string")
    }
  }

  /// Skips characters that are not escaped. Most input consists of such characters, so this loop is written to be fast
  /// even in debug builds.
  private mutating func skipPlainText() {
    guard let start = bytes.baseAddress else { return }
    let end = bytes.count
    var index = offset
    while index < end {
      let byte = start[index]
      if byte == 0x22 || byte == 0x5C || byte < 0x20 { break }
      index += 1
    }
    offset = index
  }

  private func text(_ raw: Slice<UnsafeBufferPointer<UInt8>>) throws -> String {
    do {
      return String(copying: try UTF8Span(validating: UnsafeBufferPointer(rebasing: raw).span))
    } catch {
      throw failure("invalid UTF-8 in a string")
    }
  }

  /// Parses the rest of the string that starts at `start`, from its first backslash at `offset`.
  private mutating func escapedString(from start: Int) throws -> String {
    var unescaped = Array(bytes[start..<offset])
    while let byte = next {
      offset += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = String(validating: unescaped, as: UTF8.self) else {
          throw failure("invalid UTF-8 in a string")
        }
        return text
      case UInt8(ascii: "\\"): try escape(into: &unescaped)
      case 0..<0x20: throw failure("control character in a string")
      default: unescaped.append(byte)
      }
    }
    throw failure("unexpected end")
  }

  private mutating func escape(into unescaped: inout [UInt8]) throws {
    guard let byte = next else { throw failure("unexpected end") }
    offset += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): unescaped.append(byte)
    case UInt8(ascii: "b"): unescaped.append(0x08)
    case UInt8(ascii: "f"): unescaped.append(0x0C)
    case UInt8(ascii: "n"): unescaped.append(0x0A)
    case UInt8(ascii: "r"): unescaped.append(0x0D)
    case UInt8(ascii: "t"): unescaped.append(0x09)
    case UInt8(ascii: "u"): unescaped.append(contentsOf: Array(String(try escapedScalar()).utf8))
    default: throw failure("unknown escape")
    }
  }

  /// Parses the character after `\u`. Characters beyond U+FFFF require two escapes (a surrogate pair).
  private mutating func escapedScalar() throws -> Character {
    let first = try hexDigits()
    if let scalar = Unicode.Scalar(first) { return Character(scalar) }
    guard first < 0xDC00, next == UInt8(ascii: "\\") else { throw failure("unpaired surrogate") }
    offset += 1
    guard next == UInt8(ascii: "u") else { throw failure("unpaired surrogate") }
    offset += 1
    let second = try hexDigits()
    guard (0xDC00...0xDFFF).contains(second),
      let scalar = Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
    else { throw failure("unpaired surrogate") }
    return Character(scalar)
  }

  private mutating func hexDigits() throws -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw failure("expected four hex digits")
      }
      value = value << 4 | UInt32(digit)
      offset += 1
    }
    return value
  }
}
