/// `application/x-www-form-urlencoded` (RFC 6749, appendix B).
enum FormBody {
  static func encode(_ fields: [(String, String)]) -> [UInt8] {
    Array(fields.map { encode($0) + "=" + encode($1) }.joined(separator: "&").utf8)
  }

  static func encode(_ text: String) -> String {
    let hexadecimal = Array("0123456789ABCDEF".utf8)
    var result: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "*"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"):
        result.append(byte)
      case UInt8(ascii: " "):
        result.append(UInt8(ascii: "+"))
      default:
        result += [UInt8(ascii: "%"), hexadecimal[Int(byte >> 4)], hexadecimal[Int(byte & 15)]]
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
