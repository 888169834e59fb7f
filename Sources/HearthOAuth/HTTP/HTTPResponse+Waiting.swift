import HearthCore

extension HTTPResponse {
  private static let longestWait = Duration.seconds(365 * 86_400)

  /// How long the server asks to wait (RFC 9110, section 10.2.3): at least nothing and at most a year.
  var retryAfter: Duration? { header("Retry-After").flatMap(wait) }

  /// Reads seconds, or a time on the server's own clock. Many servers write a fraction of a second although the RFC has
  /// none: it is rounded up, for a request that comes too early may be refused for longer.
  private func wait(_ text: String) -> Duration? {
    if let seconds = Self.number(text) {
      return seconds < 0 ? nil : min(.seconds(Int64(seconds.rounded(.up))), Self.longestWait)
    }
    guard let time = Timestamp(httpDate: text, near: receivedAt) else { return nil }
    return min(max(time - (date ?? receivedAt), .zero), Self.longestWait)
  }

  /// Reads a decimal number. `Double` alone would also read "nan" and hexadecimal digits.
  private static func number(_ text: String) -> Double? {
    guard text.utf8.allSatisfy({ $0.isASCIIDigit || "+-.eE".utf8.contains($0) }) else { return nil }
    return Double(text).map { min($0, 1e15) }
  }
}

extension String {
  /// This text as the value of a field that was received: without the whitespace around it, and with a space in place of
  /// each CR, LF and NUL (RFC 9110, section 5.5).
  var fieldValue: String {
    let value = utf8.map { [0x00, 0x0A, 0x0D].contains($0) ? 0x20 : $0 }
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    guard let first = value.firstIndex(where: { !isBlank($0) }), let last = value.lastIndex(where: { !isBlank($0) })
    else { return "" }
    return String(decoding: value[first...last], as: UTF8.self).streamSafe
  }
}
