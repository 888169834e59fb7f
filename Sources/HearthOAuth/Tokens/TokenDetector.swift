import HearthCore

/// Finds words that look like tokens in a provider's text, so that Hearth does not quote a token it does not know.
enum TokenDetector {
  /// The text with each such word replaced.
  static func masked(_ text: String) -> String {
    var result = ""
    var word = ""
    func close() {
      // Check each part of a URL separately.
      let parts = word.hasPrefix("//") ? word.split(separator: "/").map(String.init) : [word]
      result += parts.contains(where: isLikely) ? Redactor.replacement : word
      word = ""
    }
    for character in text {
      if isPart(character) {
        word.append(character)
      } else {
        close()
        result.append(character)
      }
    }
    close()
    return result
  }

  /// Whether a long text is neither a word nor a name: it mixes letters and digits, or often alternates between
  /// capitals and small letters.
  static func isLikely(_ word: String) -> Bool {
    let bytes = Array(word.utf8)
    guard bytes.count >= 16 else { return false }
    let digits = bytes.count(where: \.isASCIIDigit)
    let letters = bytes.count(where: \.isASCIILetter)
    if digits >= 2 && letters >= 2 || digits >= 32 { return true }
    let turns = zip(bytes, bytes.dropFirst()).count { $0.isASCIILetter && $1.isASCIILetter && ($0 ^ $1) & 0x20 != 0 }
    let longest = bytes.split { !$0.isASCIILetter }.map(\.count).max() ?? 0
    return turns * 10 >= bytes.count * 3 || longest >= 32
  }

  /// All strings in a response that are tokens by the name of their field, or look like one. `own` are additional names
  /// of such fields.
  static func tokens(in document: JSONValue, named own: Set<String> = []) -> [Secret] {
    var found: [Secret] = []
    func search(_ value: JSONValue, isNamed: Bool) {
      switch value {
      case .null, .bool, .integer, .number: break
      case .string(let text):
        // Limits the work on a response full of tokens. Quotations are masked anyway.
        guard found.count < 64 else { return }
        if isNamed || !text.utf8.contains(UInt8(ascii: " ")) && isLikely(text) { found.append(Secret(text)) }
      case .array(let values): for value in values { search(value, isNamed: isNamed) }
      case .object(let members):
        for (name, value) in members { search(value, isNamed: isNamed || own.contains(name) || isTokenName(name)) }
      }
    }
    search(document, isNamed: false)
    return found
  }

  private static func isTokenName(_ name: String) -> Bool {
    let plain = name.lowercased().filter { $0 != "_" && $0 != "-" }
    return ["token", "secret", "password", "assertion", "jwt", "apikey"].contains { plain.hasSuffix($0) }
  }

  private static func isPart(_ character: Character) -> Bool {
    guard let byte = character.asciiValue else { return false }
    return byte.isASCIILetter || "0123456789-_.~+/=%".utf8.contains(byte)
  }
}
