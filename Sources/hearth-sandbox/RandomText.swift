enum RandomText {
  /// Returns 256 random bits in hex, after a prefix that names the kind of token.
  static func token(_ prefix: String) -> String {
    prefix + "_" + hexadecimal((0..<32).map { _ in UInt8.random(in: .min ... .max) })
  }

  /// Returns eight letters for the user to type, in the form `BCDF-GHJK`. They are consonants, so that they do not form
  /// words (RFC 8628, section 6.1).
  static func userCode() -> String {
    let letters = Array("BCDFGHJKLMNPQRSTVWXZ")
    func four() -> String { String((0..<4).compactMap { _ in letters.randomElement() }) }
    return four() + "-" + four()
  }
}
