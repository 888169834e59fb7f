/// Removes secrets from responses before they are logged, stored or published.
///
/// A secret is found in these forms, in upper or lower case: unchanged, percent-encoded, JSON-escaped, with some
/// or all characters as HTML character references, in Base64 at any alignment, and in hexadecimal digits. The beginning
/// of such a form is found if it has at least 16 bytes, or if the text is cut off after it. Unless it is in Base64, a
/// secret of fewer than 6 bytes is found only as a whole word, and never in hexadecimal digits.
///
/// An attacker may choose both the text and the secrets. The running time is therefore linear in the length of the text
/// and in the number of secrets, and only as much of each secret is read as fits in the text.
package struct Redactor: Sendable {
  package static let replacement = "[redacted]"
  /// The maximum number of bytes of a text to scan when quoting one line of it.
  package static let quotable = 2048

  private var secrets: [Secret] = []

  package init(_ secrets: some Sequence<Secret>) { add(secrets) }

  package mutating func add(_ secrets: some Sequence<Secret>) {
    self.secrets += secrets.filter { !$0.isEmpty }
  }

  package func redacted(_ text: String) -> String {
    String(decoding: redacted(Array(text.utf8)), as: UTF8.self)
  }

  /// Redacts the beginning of the text, to quote one line of it. Also redacts a secret that is cut off at the end.
  package func redactedBeginning(of text: String) -> String {
    let beginning = redacted(Array(text.utf8.prefix(Self.quotable)), isCut: text.utf8.count > Self.quotable)
    return String(decoding: beginning, as: UTF8.self)
  }

  /// Redacts bytes. `isCut` is true if the text continues after them.
  package func redacted(_ bytes: [UInt8], isCut: Bool = false) -> [UInt8] {
    let isSecret = secretBytes(in: bytes, isCut: isCut)
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

  /// Returns the beginning of the text as one line of at most `limit` characters. Redacts secrets, and replaces each
  /// run of spaces and characters that are not plain with one space.
  package func line(_ text: String, limit: Int = 200) -> String {
    let words = redactedBeginning(of: text).unicodeScalars.split { !$0.isPlain || $0 == " " }
    let line = words.map { String(String.UnicodeScalarView($0)) }.joined(separator: " ")
    return line.unicodeScalars.count <= limit ? line : String.cut(line.unicodeScalars, to: limit)
  }

  // MARK: - Finding

  private func secretBytes(in text: [UInt8], isCut: Bool) -> [Bool] {
    var isSecret = [Bool](repeating: false, count: text.count)
    let readings = EchoedText.readings(of: text)
    for secret in secrets {
      for spelling in SecretSpelling.all(of: secret, upTo: text.count + 1) {
        for reading in readings { Self.mark(spelling, in: reading, of: text, isCut: isCut, &isSecret) }
      }
    }
    return isSecret
  }

  /// Marks each occurrence of the secret or its beginning (Knuth–Morris–Pratt algorithm).
  private static func mark(
    _ spelling: SecretSpelling, in reading: EchoedText, of text: [UInt8], isCut: Bool, _ isSecret: inout [Bool]
  ) {
    var search = SecretSpelling.Search(spelling.bytes)
    var marked = 0
    for (index, symbol) in reading.symbols.enumerated() {
      let count = search.next(symbol)
      let isAtEnd = isCut && index == reading.symbols.count - 1
      guard count > 0, search.isWhole || count >= 16 || isAtEnd else { continue }
      let (start, end) = (reading.starts[index + 1 - count], reading.starts[index + 1])
      if spelling.standsAlone, start > 0 && isWord(text[start - 1]) || end < text.count && isWord(text[end]) {
        continue
      }
      for place in max(start, marked)..<end { isSecret[place] = true }
      marked = end
    }
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    Unicode.Scalar(byte).properties.isAlphabetic || byte.isASCIIDigit
  }

  /// Returns whether the text contains a secret, judged by the last 16 bytes of each spelling. Ignores spellings
  /// shorter than 8 bytes, because no token is that short.
  package func findsAny(in text: [UInt8]) -> Bool {
    var endings: [Int: Set<UInt128>] = [:]
    var mayEnd = [Bool](repeating: false, count: 256)
    for secret in secrets {
      for spelling in SecretSpelling.all(of: secret) where spelling.bytes.count >= 8 {
        let ending = spelling.bytes.suffix(16)
        endings[ending.count, default: []].insert(ending.reduce(0) { $0 << 8 | UInt128($1) })
        mayEnd[Int(spelling.bytes[spelling.bytes.count - 1])] = true
      }
    }
    return [EchoedText.asItStands, EchoedText.unit].contains { unit in
      var (index, count, last) = (0, 0, UInt128(0))
      while index < text.count {
        let (byte, length) = unit(text, index)
        (index, count, last) = (index + length, count + 1, last << 8 | UInt128(byte))
        guard mayEnd[Int(byte)] else { continue }
        for (length, known) in endings where count >= length {
          if known.contains(last & UInt128.max >> UInt128(128 - 8 * length)) { return true }
        }
      }
      return false
    }
  }
}
