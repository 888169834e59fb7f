/// Finds where a JSON object ends that comes piece by piece. Whether it is one, the parser says.
struct ObjectEnd {
  private var depth = 0
  private var isInString = false
  private var isEscaped = false

  /// Whether the object has ended with one of these bytes.
  mutating func isReached(in bytes: some Sequence<UInt8>) -> Bool {
    for byte in bytes where isReached(by: byte) { return true }
    return false
  }

  private mutating func isReached(by byte: UInt8) -> Bool {
    if isInString {
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isInString = false
      }
      return false
    }
    switch byte {
    case UInt8(ascii: "\""): isInString = true
    case UInt8(ascii: "{"): depth += 1
    case UInt8(ascii: "}"):
      depth -= 1
      return depth <= 0
    default: break
    }
    return false
  }
}
