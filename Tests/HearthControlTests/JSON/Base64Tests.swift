import HearthControl
import HearthCore
import TestSupport
import Testing

@Suite struct Base64Tests {
  @Test(
    "agrees with the vectors of RFC 4648, section 10",
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
      ("foobar", "Zm9vYmFy"),
    ])
  func vectors(plain: String, encoded: String) {
    #expect(Base64.encode(Array(plain.utf8)) == encoded)
    #expect(Base64.decode(encoded) == Array(plain.utf8))
  }

  @Test(
    "refuses what is no Base64",
    arguments: ["Zg", "Zg=", "Zg===", "Z===", "====", "Zh==", "Zm9=", "Z g=", "Zm9v\n", "Zm-_"])
  func refuses(text: String) {
    #expect(Base64.decode(text) == nil)
  }

  @Test("decodes whatever it encodes")
  func roundTrips() {
    var random = SeededGenerator(seed: 3)
    for count in 0..<200 {
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      #expect(Base64.decode(Base64.encode(bytes)) == bytes)
    }
  }
}
