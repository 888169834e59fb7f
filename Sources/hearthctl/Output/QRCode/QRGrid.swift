/// The modules of a QR code, row by row.
struct QRGrid {
  let size: Int
  private var dark: [Bool]
  /// Whether each module belongs to a pattern, the format or the version, which must not be masked.
  private var isFixed: [Bool]

  /// Creates a grid with all patterns, but without data (6.3, 7.9 and 7.10).
  init(_ version: QRVersion) {
    size = version.size
    dark = Array(repeating: false, count: size * size)
    isFixed = dark
    for index in 0..<size {
      fix(6, index, index % 2 == 0)
      fix(index, 6, index % 2 == 0)
    }
    for (x, y) in [(3, 3), (size - 4, 3), (3, size - 4)] { placeFinder(x, y) }
    let centres = version.alignments
    for x in centres {
      for y in centres where !((x == 6 && y == 6) || (x == 6 && y == size - 7) || (x == size - 7 && y == 6)) {
        for dx in -2...2 { for dy in -2...2 { fix(x + dx, y + dy, max(abs(dx), abs(dy)) != 1) } }
      }
    }
    placeFormat(0)
    placeVersion(version.number)
  }

  subscript(x: Int, y: Int) -> Bool {
    get { dark[y * size + x] }
    set { dark[y * size + x] = newValue }
  }

  private mutating func fix(_ x: Int, _ y: Int, _ isDark: Bool) {
    guard (0..<size).contains(x), (0..<size).contains(y) else { return }
    self[x, y] = isDark
    isFixed[y * size + x] = true
  }

  /// Places a finder pattern and its light border.
  private mutating func placeFinder(_ x: Int, _ y: Int) {
    for dx in -4...4 {
      for dy in -4...4 {
        let distance = max(abs(dx), abs(dy))
        fix(x + dx, y + dy, distance != 2 && distance != 4)
      }
    }
  }

  /// Places the fifteen format bits twice (figure 25) and the module that is always dark.
  private mutating func placeFormat(_ bits: Int) {
    func bit(_ index: Int) -> Bool { bits >> index & 1 == 1 }
    for index in 0...5 { fix(8, index, bit(index)) }
    fix(8, 7, bit(6))
    fix(8, 8, bit(7))
    fix(7, 8, bit(8))
    for index in 9..<15 { fix(14 - index, 8, bit(index)) }
    for index in 0..<8 { fix(size - 1 - index, 8, bit(index)) }
    for index in 8..<15 { fix(8, size - 15 + index, bit(index)) }
    fix(8, size - 8, true)
  }

  /// Places the eighteen version bits twice. Versions below 7 have none (7.10).
  private mutating func placeVersion(_ number: Int) {
    guard number >= 7 else { return }
    let bits = number << 12 | Self.remainder(of: number << 12, by: 0x1F25)
    for index in 0..<18 {
      let isDark = bits >> index & 1 == 1
      fix(size - 11 + index % 3, index / 3, isDark)
      fix(index / 3, size - 11 + index % 3, isDark)
    }
  }

  /// Returns the remainder of a polynomial division over GF(2).
  private static func remainder(of value: Int, by divisor: Int) -> Int {
    var rest = value
    let degree = Int.bitWidth - divisor.leadingZeroBitCount
    while case let length = Int.bitWidth - rest.leadingZeroBitCount, length >= degree {
      rest ^= divisor << (length - degree)
    }
    return rest
  }

  /// Places the data in pairs of columns, alternately upwards and downwards, starting at the lower right (7.7.3).
  mutating func place(_ codewords: [UInt8]) {
    let all: [Bool] = codewords.flatMap { byte in (0..<8).reversed().map { byte >> $0 & 1 == 1 } }
    var bits = all[...]
    var isUpwards = true
    var right = size - 1
    while right > 0 {
      // Skip the column of the timing pattern.
      if right == 6 { right -= 1 }
      for step in 0..<size {
        let y = isUpwards ? size - 1 - step : step
        for x in [right, right - 1] where !isFixed[y * size + x] { self[x, y] = bits.popFirst() ?? false }
      }
      isUpwards.toggle()
      right -= 2
    }
  }

  /// Returns the grid with masked data and the matching format (7.8 and 7.9).
  func masked(by mask: Int) -> QRGrid {
    var grid = self
    for y in 0..<size {
      for x in 0..<size where !isFixed[y * size + x] && Self.inverts(mask, x, y) { grid[x, y].toggle() }
    }
    // 01 means level L (table 12).
    let format = 0b01 << 3 | mask
    grid.placeFormat((format << 10 | Self.remainder(of: format << 10, by: 0x537)) ^ 0x5412)
    return grid
  }

  /// Returns whether the mask inverts a module (table 10).
  private static func inverts(_ mask: Int, _ x: Int, _ y: Int) -> Bool {
    switch mask {
    case 0: (x + y) % 2 == 0
    case 1: y % 2 == 0
    case 2: x % 3 == 0
    case 3: (x + y) % 3 == 0
    case 4: (x / 3 + y / 2) % 2 == 0
    case 5: x * y % 2 + x * y % 3 == 0
    case 6: (x * y % 2 + x * y % 3) % 2 == 0
    default: ((x + y) % 2 + x * y % 3) % 2 == 0
    }
  }

  // MARK: - Penalty

  /// The penalty for patterns that make the code hard to read (table 11). A lower penalty is better.
  var penalty: Int {
    let lines = (0..<size).flatMap { index in
      [(0..<size).map { self[$0, index] }, (0..<size).map { self[index, $0] }]
    }
    return lines.reduce(0) { $0 + Self.runs(in: $1) + Self.finders(in: $1) } + squares + imbalance
  }

  /// Returns the penalty for runs of five or more modules of the same colour.
  private static func runs(in line: [Bool]) -> Int {
    var (penalty, length) = (0, 0)
    for index in line.indices {
      length = index > 0 && line[index] == line[index - 1] ? length + 1 : 1
      if length == 5 { penalty += 3 } else if length > 5 { penalty += 1 }
    }
    return penalty
  }

  private static let finder = [true, false, true, true, true, false, true]

  /// Returns the penalty for patterns that look like a finder next to four light modules. Modules outside the code are
  /// light.
  private static func finders(in line: [Bool]) -> Int {
    let margin = [Bool](repeating: false, count: 4)
    let wide = margin + line + margin
    return (4...wide.count - 11).reduce(0) { penalty, start in
      guard wide[start..<start + 7].elementsEqual(finder) else { return penalty }
      let isApart = [start - 4..<start, start + 7..<start + 11].contains { !wide[$0].contains(true) }
      return penalty + (isApart ? 40 : 0)
    }
  }

  /// The penalty for squares of two by two modules of the same colour.
  private var squares: Int {
    var penalty = 0
    for y in 0..<size - 1 {
      for x in 0..<size - 1 where self[x, y] == self[x + 1, y] && self[x, y] == self[x, y + 1] {
        if self[x, y] == self[x + 1, y + 1] { penalty += 3 }
      }
    }
    return penalty
  }

  /// The penalty for an uneven share of dark modules. The penalty is ten for each five percent of deviation from half.
  private var imbalance: Int {
    let count = dark.reduce(0) { $0 + ($1 ? 1 : 0) }
    return abs(count * 20 - dark.count * 10) / dark.count * 10
  }
}
