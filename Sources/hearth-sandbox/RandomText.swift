/// Text that cannot be guessed, from the system's source of randomness.
enum RandomText {
  /// 256 bits as hex digits, after a prefix that tells what they are.
  static func token(_ prefix: String) -> String {
    let digits = (0..<4).map { _ in
      let text = String(UInt64.random(in: .min ... .max), radix: 16)
      return String(repeating: "0", count: 16 - text.count) + text
    }
    return prefix + "_" + digits.joined()
  }

  /// Eight letters for a person to type, without vowels so that they are no word (RFC 8628, section 6.1).
  static func userCode() -> String {
    let letters = Array("BCDFGHJKLMNPQRSTVWXZ")
    func four() -> String { String((0..<4).compactMap { _ in letters.randomElement() }) }
    return four() + "-" + four()
  }
}
