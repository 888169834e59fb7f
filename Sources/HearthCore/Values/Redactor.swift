/// Removes secrets from what a server said, before anything of it is logged, stored or published.
///
/// A secret is found as it stands, percent-encoded, JSON-escaped and as HTML character references (each of these also
/// in parts), in base64 at any alignment, in hexadecimal digits, in upper and lower case alike, and where only its
/// beginning is quoted (16 bytes or more, or what stands at the end of a text that was cut off).
package struct Redactor: Sendable {
  package static let replacement = "[redacted]"

  private struct Needle {
    let bytes: [UInt8]
    /// Too short to be searched for inside words, where the replacement itself would show where it stands.
    let standsAlone: Bool
  }

  private var needles: [Needle] = []

  package init(_ secrets: some Sequence<Secret>) {
    add(secrets)
  }

  package mutating func add(_ secrets: some Sequence<Secret>) {
    for secret in secrets where !secret.isEmpty {
      let bytes = secret.reveal().utf8.map(Self.folded)
      needles.append(Needle(bytes: bytes, standsAlone: bytes.count < 6))
      if bytes.count >= 6 { needles.append(Needle(bytes: Self.hexadecimal(of: secret), standsAlone: false)) }
      for encoded in Self.base64Forms(of: Array(secret.reveal().utf8)) {
        needles.append(Needle(bytes: encoded.map(Self.folded), standsAlone: false))
      }
    }
  }

  package func redacted(_ text: String) -> String {
    String(decoding: redacted(Array(text.utf8)), as: UTF8.self)
  }

  /// `isCut`: the text goes on behind these bytes.
  package func redacted(_ bytes: [UInt8], isCut: Bool = false) -> [UInt8] {
    let isSecret = secretBytes(in: bytes.map(Self.folded), isCut: isCut)
    guard isSecret.contains(true) else { return bytes }
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    for index in bytes.indices {
      if !isSecret[index] {
        result.append(bytes[index])
      } else if index == 0 || !isSecret[index - 1] {
        result.append(contentsOf: Self.replacement.utf8)
      }
    }
    return result
  }

  /// One line for people: without secrets and what is not plain text, and at most `limit` characters long.
  package func line(_ text: String, limit: Int = 200) -> String {
    // A space first where something stood between two words.
    let words = redacted(text).unicodeScalars.split { !$0.isPlain || $0 == " " }
    let line = words.map { String(String.UnicodeScalarView($0)) }.joined(separator: " ")
    return line.unicodeScalars.count <= limit ? line : String.cut(line.unicodeScalars, to: limit)
  }

  // MARK: - Finding

  private func secretBytes(in text: [UInt8], isCut: Bool) -> [Bool] {
    var isSecret = [Bool](repeating: false, count: text.count)
    for start in text.indices {
      let first = Self.unit(in: text, at: start).byte
      for needle in needles where needle.bytes[0] == first || needle.bytes[0] == text[start] {
        guard let end = Self.end(of: needle, in: text, from: start, isCut: isCut) else { continue }
        for index in start..<end { isSecret[index] = true }
      }
    }
    return isSecret
  }

  private static func end(of needle: Needle, in text: [UInt8], from start: Int, isCut: Bool) -> Int? {
    let ends = [
      literalEnd(of: needle.bytes, in: text, from: start), encodedEnd(of: needle.bytes, in: text, from: start),
    ]
    let end = ends.filter { $0.count == needle.bytes.count || $0.count >= 16 || isCut && $0.index == text.count }
      .map(\.index).max()
    guard let end, needle.standsAlone else { return end }
    let touchesWord = start > 0 && isWord(text[start - 1]) || end < text.count && isWord(text[end])
    return touchesWord ? nil : end
  }

  private static func literalEnd(
    of needle: [UInt8], in text: [UInt8], from start: Int
  ) -> (index: Int, count: Int) {
    var count = 0
    while count < needle.count, start + count < text.count, text[start + count] == needle[count] { count += 1 }
    return (start + count, count)
  }

  private static func encodedEnd(
    of needle: [UInt8], in text: [UInt8], from start: Int
  ) -> (index: Int, count: Int) {
    var count = 0
    var index = start
    while count < needle.count, index < text.count {
      let unit = unit(in: text, at: index)
      if unit.byte == needle[count] {
        index += unit.length
      } else if text[index] == needle[count] {
        index += 1
      } else {
        break
      }
      count += 1
    }
    return (index, count)
  }

  /// In lower case: servers that change the case of what they echo change none of its worth to an attacker.
  private static func folded(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  /// What the text at `index` stands for, if it is an escape of one ASCII character, and how many bytes it takes.
  private static func unit(in text: [UInt8], at index: Int) -> (byte: UInt8, length: Int) {
    let plain = (text[index], 1)
    switch text[index] {
    case UInt8(ascii: "%"):
      return number(in: text, from: index + 1, radix: 16, digits: 2).map { (folded($0.byte), 3) } ?? plain
    case UInt8(ascii: "+"):
      return (UInt8(ascii: " "), 1)
    case UInt8(ascii: "\\"):
      guard index + 1 < text.count else { return plain }
      if text[index + 1] == UInt8(ascii: "u") {
        return number(in: text, from: index + 2, radix: 16, digits: 4).map { (folded($0.byte), 6) } ?? plain
      }
      return "\"\\/".utf8.contains(text[index + 1]) ? (text[index + 1], 2) : plain
    case UInt8(ascii: "&"):
      return characterReference(in: text, at: index) ?? plain
    default:
      return plain
    }
  }

  private static func characterReference(in text: [UInt8], at index: Int) -> (byte: UInt8, length: Int)? {
    let names: [(String, Character)] = [("amp;", "&"), ("lt;", "<"), ("gt;", ">"), ("quot;", "\""), ("apos;", "'")]
    for (name, character) in names where text[(index + 1)...].starts(with: name.utf8) {
      return character.asciiValue.map { ($0, name.utf8.count + 1) }
    }
    guard text[(index + 1)...].first == UInt8(ascii: "#") else { return nil }
    let isHexadecimal = index + 2 < text.count && text[index + 2] | 0x20 == UInt8(ascii: "x")
    let from = index + (isHexadecimal ? 3 : 2)
    guard let number = number(in: text, from: from, radix: isHexadecimal ? 16 : 10, digits: nil),
      number.end < text.count, text[number.end] == UInt8(ascii: ";")
    else { return nil }
    return (folded(number.byte), number.end + 1 - index)
  }

  /// A number of exactly `digits` digits, or of as many as there are, that fits a byte.
  private static func number(
    in text: [UInt8], from start: Int, radix: Int, digits: Int?
  ) -> (byte: UInt8, end: Int)? {
    var value = 0
    var end = start
    while end < text.count, end - start < digits ?? 4,
      let digit = Character(Unicode.Scalar(text[end])).hexDigitValue, digit < radix
    {
      value = value * radix + digit
      end += 1
    }
    guard end > start, digits == nil || end - start == digits, let byte = UInt8(exactly: value) else { return nil }
    return (byte, end)
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    Unicode.Scalar(byte).properties.isAlphabetic || byte.isASCIIDigit
  }

  private static func hexadecimal(of secret: Secret) -> [UInt8] {
    let digits = Array("0123456789abcdef".utf8)
    return secret.reveal().utf8.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0x0F)]] }
  }

  // MARK: - Base64

  /// The characters that a secret certainly becomes in base64 and base64url, wherever in a longer text it stands.
  private static func base64Forms(of secret: [UInt8]) -> Set<[UInt8]> {
    let standard = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    let forURLs = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    var forms: Set<[UInt8]> = []
    for offset in 0..<3 {
      let sextets = sextets(of: [UInt8](repeating: 0, count: offset) + secret)
      // Some bits of the first ones belong to the text before the secret.
      let own = sextets.dropFirst([0, 2, 3][offset])
      guard own.count >= 6 else { continue }
      forms.insert(own.map { standard[Int($0)] })
      forms.insert(own.map { forURLs[Int($0)] })
    }
    return forms
  }

  /// Groups of six bits, without the last one where it is not full.
  private static func sextets(of bytes: [UInt8]) -> [UInt8] {
    var sextets: [UInt8] = []
    var pending: UInt32 = 0
    var bits = 0
    for byte in bytes {
      pending = pending << 8 | UInt32(byte)
      bits += 8
      while bits >= 6 {
        bits -= 6
        sextets.append(UInt8(pending >> UInt32(bits) & 0x3f))
      }
      pending &= (1 << UInt32(bits)) - 1
    }
    return sextets
  }
}
