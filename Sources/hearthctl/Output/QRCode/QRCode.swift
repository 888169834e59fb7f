/// A QR code (ISO/IEC 18004:2015) in byte mode, for versions 1 to 10. Error correction level L is enough for screens.
struct QRCode {
  let version: QRVersion
  /// The index of the mask that was applied, from 0 to 7 (7.8).
  let mask: Int
  private let grid: QRGrid

  /// Encodes a text. Returns `nil` if the text is too long for version 10. If `mask` is given, uses it instead of the
  /// best mask.
  init?(_ text: String, mask: Int? = nil) {
    let bytes = Array(text.utf8)
    guard let version = QRVersion.smallest(for: bytes.count) else { return nil }
    self.version = version
    var blank = QRGrid(version)
    blank.place(version.codewords(for: bytes))
    let masked = (mask.map { [$0] } ?? Array(0..<8)).map { mask in (mask, blank.masked(by: mask)) }
    guard let best = masked.min(by: { $0.1.penalty < $1.1.penalty }) else { return nil }
    (self.mask, grid) = best
  }

  /// The number of modules on each side.
  var size: Int { grid.size }

  /// Returns whether a module is dark. Modules outside the code are light.
  func isDark(_ x: Int, _ y: Int) -> Bool {
    (0..<size).contains(x) && (0..<size).contains(y) && grid[x, y]
  }

  /// Renders the code with half blocks in black on white, regardless of the terminal's colours. The light margin is
  /// `margin` modules wide.
  func lines(margin: Int) -> [String] {
    stride(from: -margin, to: size + margin, by: 2).map { y in
      let blocks = (-margin..<size + margin).map { x in
        switch (isDark(x, y), isDark(x, y + 1)) {
        case (true, true): "█"
        case (true, false): "▀"
        case (false, true): "▄"
        case (false, false): " "
        }
      }
      return "\u{1B}[38;5;16;48;5;231m" + blocks.joined() + "\u{1B}[0m"
    }
  }
}

struct QRVersion: Equatable {
  let number: Int

  var size: Int { 17 + 4 * number }

  /// Returns the smallest version for this many bytes, or `nil` if the text is too long.
  static func smallest(for count: Int) -> QRVersion? {
    (1...10).lazy.map(QRVersion.init).first { $0.capacity >= count }
  }

  // The values are from tables 1 and 9 of the standard.
  private static let totals = [26, 44, 70, 100, 134, 172, 196, 242, 292, 346]
  private static let corrections = [7, 10, 15, 20, 26, 18, 20, 24, 30, 18]

  /// The number of error correction codewords in each block.
  private var correction: Int { Self.corrections[number - 1] }

  private var blocks: Int {
    switch number {
    case ...5: 1
    case ...9: 2
    default: 4
    }
  }

  private var dataCount: Int { Self.totals[number - 1] - correction * blocks }
  /// The size of the length field, in bits (table 3).
  private var countBits: Int { number < 10 ? 8 : 16 }

  /// The maximum length of the text, in bytes.
  var capacity: Int { (dataCount * 8 - 4 - countBits) / 8 }

  /// Returns the padded text in interleaved blocks, followed by their interleaved error correction (7.4 to 7.6).
  func codewords(for bytes: [UInt8]) -> [UInt8] {
    var bits: [Bool] = []
    func append(_ value: Int, _ count: Int) {
      bits += (0..<count).reversed().map { value >> $0 & 1 == 1 }
    }
    append(0b0100, 4)
    append(bytes.count, countBits)
    for byte in bytes { append(Int(byte), 8) }
    append(0, min(4, dataCount * 8 - bits.count))
    append(0, (8 - bits.count % 8) % 8)
    for pad in 0..<dataCount - bits.count / 8 { append(pad % 2 == 0 ? 0xEC : 0x11, 8) }
    let data = stride(from: 0, to: bits.count, by: 8).map { start in
      bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
    }
    // If the data cannot be divided evenly, the last blocks contain one more codeword.
    let (short, longer) = (dataCount / blocks, dataCount % blocks)
    var parts: [[UInt8]] = []
    for index in 0..<blocks {
      let start = parts.reduce(0) { $0 + $1.count }
      parts.append(Array(data[start..<start + short + (index < blocks - longer ? 0 : 1)]))
    }
    return Self.interleaved(parts) + Self.interleaved(parts.map(remainder))
  }

  private static func interleaved(_ parts: [[UInt8]]) -> [UInt8] {
    (0..<(parts.map(\.count).max() ?? 0)).flatMap { index in
      parts.compactMap { index < $0.count ? $0[index] : nil }
    }
  }

  /// Returns the error correction codewords: the remainder of a division in GF(2⁸) (7.5.2 and annex A).
  private func remainder(_ data: [UInt8]) -> [UInt8] {
    // The coefficients of the generator polynomial, except the leading coefficient.
    var divisor = [UInt8](repeating: 0, count: correction - 1) + [1]
    var root: UInt8 = 1
    for _ in 0..<correction {
      for index in divisor.indices {
        divisor[index] = Self.product(divisor[index], root)
        if index + 1 < correction { divisor[index] ^= divisor[index + 1] }
      }
      root = Self.product(root, 2)
    }
    var remainder = [UInt8](repeating: 0, count: correction)
    for byte in data {
      let factor = byte ^ remainder.removeFirst()
      remainder.append(0)
      for index in divisor.indices { remainder[index] ^= Self.product(divisor[index], factor) }
    }
    return remainder
  }

  /// Multiplies two polynomials modulo x⁸ + x⁴ + x³ + x² + 1.
  private static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
    var product = 0
    for bit in (0..<8).reversed() {
      product = product << 1 ^ (product >> 7) * 0x11D
      if right >> bit & 1 == 1 { product ^= Int(left) }
    }
    return UInt8(product)
  }

  /// The centres of the alignment patterns (annex E).
  var alignments: [Int] {
    switch number {
    case 1: []
    case 2...6: [6, size - 7]
    default: [6, (size - 1) / 2, size - 7]
    }
  }
}
