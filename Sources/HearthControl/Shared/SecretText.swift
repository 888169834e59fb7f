package import HearthCore

/// A file, or what comes on standard input, in which one secret belongs. People make such a file with any editor.
package enum SecretText {
  /// Why there is no secret in it, as the end of a sentence that begins with its name. It never has anything of the text.
  package struct Refusal: Error, Hashable {
    package let reason: String
  }

  /// Returns the secret without a byte order mark before it and without the ends of lines after it.
  package static func secret(in bytes: [UInt8]) throws(Refusal) -> Secret {
    try Secret(text(in: bytes))
  }

  private static func text(in bytes: [UInt8]) throws(Refusal) -> String {
    guard !ByteOrderMark.saysUTF16(bytes) else { throw Refusal(reason: "is UTF-16 text: save it as UTF-8") }
    guard let text = String(validating: ByteOrderMark.removed(from: bytes), as: UTF8.self) else {
      throw Refusal(reason: "is not UTF-8 text")
    }
    let line = String(text.reversed().drop(while: \.isNewline).reversed())
    guard !line.isEmpty else { throw Refusal(reason: "is empty") }
    guard !line.contains(where: \.isNewline) else {
      throw Refusal(reason: "has several lines, and a secret is one: put it there alone")
    }
    guard !line.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      throw Refusal(reason: "has control characters in it: save it as UTF-8 text")
    }
    return line
  }
}
