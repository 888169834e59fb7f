/// One way to write a secret, in lower case: unchanged, with its escapes decoded, in hexadecimal digits, or in Base64
/// at one of three alignments.
struct SecretSpelling {
  let bytes: [UInt8]
  /// Whether the spelling is so short that it is not searched for inside words. If it were redacted there, the rest of
  /// the word would reveal it.
  let standsAlone: Bool

  /// Returns all spellings of the first `limit` bytes of a secret.
  static func all(of secret: Secret, upTo limit: Int = .max) -> [SecretSpelling] {
    let bytes = Array(secret.reveal().utf8.prefix(limit))
    let isShort = secret.reveal().utf8.count < 6
    let folded = bytes.map(EchoedText.folded)
    var forms: Set = [folded, EchoedText(decoding: folded).symbols]
    if !isShort { forms.insert(hexadecimal(of: bytes)) }
    forms.formUnion(base64Forms(of: bytes))
    return forms.map { SecretSpelling(bytes: $0, standsAlone: isShort && $0.count < 6) }
  }

  /// Tracks how much of a pattern matches at each position of a text.
  struct Search {
    private let pattern: [UInt8]
    /// For each number of matched bytes, the length of the longest proper prefix of the match that is also its suffix.
    private var borders: [Int] = [0, 0]
    private var count = 0

    init(_ pattern: [UInt8]) { self.pattern = pattern }

    /// Whether the whole pattern ends at this position.
    var isWhole: Bool { count == pattern.count }

    /// Advances by one byte, and returns how many bytes of the pattern match so far.
    mutating func next(_ byte: UInt8) -> Int {
      if isWhole { count = borders[count] }
      while count > 0, pattern[count] != byte { count = borders[count] }
      if pattern[count] == byte { count += 1 }
      while borders.count <= count { addBorder() }
      return count
    }

    private mutating func addBorder() {
      let last = pattern[borders.count - 1]
      var border = borders[borders.count - 1]
      while border > 0, pattern[border] != last { border = borders[border] }
      borders.append(pattern[border] == last ? border + 1 : 0)
    }
  }

  private static func hexadecimal(of bytes: [UInt8]) -> [UInt8] {
    let digits = Array("0123456789abcdef".utf8)
    return bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0x0F)]] }
  }

  /// Returns the Base64 and base64url characters that a secret always produces, for each alignment in a longer text.
  private static func base64Forms(of secret: [UInt8]) -> Set<[UInt8]> {
    let standard = Array("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    let forURLs = standard.dropLast(2) + "-_".utf8
    var forms: Set<[UInt8]> = []
    for offset in 0..<3 {
      let sextets = sextets(of: [UInt8](repeating: 0, count: offset) + secret)
      // Some bits of the first sextets come from the text before the secret, so skip these sextets.
      let own = sextets.dropFirst([0, 2, 3][offset])
      guard own.count >= 6 else { continue }
      forms.insert(own.map { standard[Int($0)] })
      forms.insert(own.map { forURLs[Int($0)] })
    }
    return forms
  }

  /// Splits bytes into groups of six bits, and drops an incomplete last group.
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
