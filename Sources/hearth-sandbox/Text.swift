import FoundationEssentials

/// Returns 256 random bits in hex, after a prefix that names the kind of token.
func randomToken(_ prefix: String) -> String {
  prefix + "_" + hexadecimal((0..<32).map { _ in UInt8.random(in: .min ... .max) })
}

func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

func base64URL(_ data: Data) -> String {
  data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
}

/// Encodes all characters except unreserved ones (RFC 3986, section 2.3).
func percentEncoded(_ text: String) -> String {
  text.utf8.map { byte in
    let character = Character(UnicodeScalar(byte))
    if character.isASCII, character.isLetter || character.isNumber || "-._~".contains(character) {
      return String(character)
    }
    return "%" + hexadecimal([byte]).uppercased()
  }.joined()
}
