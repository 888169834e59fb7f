/// The characters that tokens may have. A control character in one would end the header that carries it.
package enum TokenSyntax {
  /// For what stands in an `Authorization` header: visible ASCII (RFC 6749, appendix A.12, without the space, which
  /// parts a header's fields). The b64token of RFC 6750, section 2.1, is narrower than what providers issue.
  package static func isBearer(_ text: String) -> Bool {
    text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  /// For what goes to the token endpoint only: visible ASCII and space (RFC 6749, appendix A.17).
  package static func isRefreshToken(_ text: String) -> Bool {
    text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
  }
}
