/// One reading of a server's text, with or without its escapes decoded.
///
/// All bytes are in lower case, so that a secret is found even if the server changed its case.
struct EchoedText {
  private(set) var symbols: [UInt8] = []
  /// The index in the text at which each symbol starts, followed by the end of the text.
  private(set) var starts: [Int] = [0]

  /// Returns the text unchanged and, if it contains escapes, also with the escapes decoded.
  static func readings(of text: [UInt8]) -> [EchoedText] {
    let hasEscapes = text.contains { "%+\\& ".utf8.contains($0) }
    return [EchoedText(text, asItStands)] + (hasEscapes ? [EchoedText(text, unit)] : [])
  }

  init(decoding text: [UInt8]) { self.init(text, Self.unit) }

  private init(_ text: [UInt8], _ unit: ([UInt8], Int) -> (byte: UInt8, length: Int)) {
    var index = 0
    while index < text.count {
      let (byte, length) = unit(text, index)
      index += length
      symbols.append(byte)
      starts.append(index)
    }
  }

  static func folded(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  static func asItStands(in text: [UInt8], at index: Int) -> (byte: UInt8, length: Int) { (folded(text[index]), 1) }

  /// Returns the byte at `index`, or the character that an escape there stands for, in lower case, with the number of
  /// bytes read. A space becomes a plus, as in an HTML form.
  static func unit(in text: [UInt8], at index: Int) -> (byte: UInt8, length: Int) {
    let plain = (folded(text[index]), 1)
    let (byte, length): (UInt8, Int) =
      switch text[index] {
      case UInt8(ascii: "%"):
        number(in: text, from: index + 1, radix: 16, digits: 2).map { ($0.byte, 3) } ?? plain
      case UInt8(ascii: "\\"): jsonEscape(in: text, at: index) ?? plain
      case UInt8(ascii: "&"): characterReference(in: text, at: index) ?? plain
      default: plain
      }
    return (byte == UInt8(ascii: " ") ? UInt8(ascii: "+") : folded(byte), length)
  }

  private static func jsonEscape(in text: [UInt8], at index: Int) -> (byte: UInt8, length: Int)? {
    guard index + 1 < text.count else { return nil }
    if text[index + 1] == UInt8(ascii: "u") || text[index + 1] == UInt8(ascii: "U") {
      return number(in: text, from: index + 2, radix: 16, digits: 4).map { ($0.byte, 6) }
    }
    return "\"\\/".utf8.contains(text[index + 1]) ? (text[index + 1], 2) : nil
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
    return (number.byte, number.end + 1 - index)
  }

  /// Parses a number that fits in a byte. The number must have exactly `digits` digits or, if `digits` is `nil`, one to
  /// four digits.
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
}
