/// Unguessable text from the system's source of randomness.
enum RandomText {
  /// 256 bits as hex digits, after a prefix that names the kind of token.
  static func token(_ prefix: String) -> String {
    prefix + "_" + hexadecimal((0..<32).map { _ in UInt8.random(in: .min ... .max) })
  }

  /// Eight letters for a person to type, without vowels so that they form no word (RFC 8628, section 6.1).
  static func userCode() -> String {
    let letters = Array("BCDFGHJKLMNPQRSTVWXZ")
    func four() -> String { String((0..<4).compactMap { _ in letters.randomElement() }) }
    return four() + "-" + four()
  }
}
