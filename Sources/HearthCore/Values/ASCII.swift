extension UInt8 {
  /// `A` to `Z` and `a` to `z`.
  package var isASCIILetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

  /// `0` to `9`.
  package var isASCIIDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

  /// Whether a method, a header's name or a scheme may contain the byte (RFC 9110, section 5.6.2).
  package var isTokenByte: Bool { isASCIILetter || isASCIIDigit || "!#$%&'*+-.^_`|~".utf8.contains(self) }

  /// `0` to `9` and `a` to `f`.
  package var isLowercaseHexDigit: Bool { isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self) }

  /// `0` to `9`, `A` to `F` and `a` to `f`.
  package var isASCIIHexDigit: Bool { isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20) }
}
