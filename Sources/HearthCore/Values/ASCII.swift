extension UInt8 {
  package var isASCIILetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

  package var isASCIIDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

  /// Whether the byte may appear in a method, header name or authentication scheme (RFC 9110, section 5.6.2).
  package var isTokenByte: Bool { isASCIILetter || isASCIIDigit || "!#$%&'*+-.^_`|~".utf8.contains(self) }

  package var isLowercaseHexDigit: Bool { isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self) }

  package var isASCIIHexDigit: Bool { isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20) }
}
