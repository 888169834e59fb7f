import HearthCore

/// Finds words in a provider's text that look like tokens, so that messages do not reveal tokens that Hearth has never
/// seen.
enum TokenDetector {
  /// Returns the text with all likely tokens replaced.
  static func masked(_ text: String) -> String {
    var result = ""
    var word = ""
    func close() {
      // Checks each part of a URL separately, because a whole URL can look like a token.
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

  /// Returns whether a word looks like a token rather than a name. Such a word has at least 16 bytes. It also mixes
  /// letters and digits, changes often between uppercase and lowercase, contains at least 32 digits, or contains at
  /// least 32 letters in a row.
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

  /// Returns up to 64 strings in a response that look like tokens or whose field name indicates a token. `own` lists
  /// additional field names.
  static func tokens(in document: JSONValue, named own: Set<String> = []) -> [Secret] {
    var found: [Secret] = []
    func search(_ value: JSONValue, isNamed: Bool) {
      switch value {
      case .null, .bool, .integer, .number: break
      case .string(let text):
        // Limits the work on a response full of tokens. `masked` still hides the other ones if they look like tokens.
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
