import HearthCore

extension HTTPResponse {
  private static let longestWait = Duration.seconds(365 * 86_400)

  /// How long the server asks to wait: at least nothing and at most a year. `Retry-After` says it (RFC 9110, section
  /// 10.2.3), or else the rate limit that the request has met.
  var retryAfter: Duration? { header("Retry-After").flatMap(wait) ?? quotaReset }

  /// When there is quota again, if the response says that there is none now. GitHub says so with a 403, too. On any other
  /// response the same headers only tell how much is left.
  private var quotaReset: Duration? {
    guard status == 429 || status == 403 else { return nil }
    if let wait = limitReset { return wait }
    guard isExhausted(Self.quotaHeaders.lazy.compactMap { header($0 + "-Remaining") }.first) else { return nil }
    return Self.quotaHeaders.lazy.flatMap { [$0 + "-Reset-After", $0 + "-Reset"] }
      .compactMap { header($0).flatMap(wait) }.first
  }

  private static let quotaHeaders = ["RateLimit", "X-RateLimit", "X-Rate-Limit"]

  /// `RateLimit` of the IETF's draft "RateLimit header fields for HTTP": `"hour";r=0;t=30, "day";r=9;t=999` since its version
  /// 8, `limit=9, remaining=0, reset=30` before. The longest wait of the quotas that have run out.
  private var limitReset: Duration? {
    let quotas = header("RateLimit").map { $0.split(separator: ",").map(Self.parameters) } ?? []
    let all = quotas.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
    let waits = (quotas.map { ($0["r"], $0["t"]) } + [(all["remaining"], all["reset"])]).compactMap { left, wait in
      isExhausted(left) ? wait.flatMap(self.wait) : nil
    }
    return waits.max()
  }

  /// A 429 with quota left is about something else, for which only the backoff is right.
  private func isExhausted(_ left: String?) -> Bool { left.flatMap(Self.number).map { $0 <= 0 } ?? (status == 429) }

  private static func parameters(_ quota: Substring) -> [String: String] {
    let pairs = quota.split(separator: ";").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
    return Dictionary(pairs.filter { $0.count == 2 }.map { ($0[0].fieldValue, $0[1].fieldValue) }) { first, _ in first }
  }

  /// Reads seconds, or a time on the server's own clock. Many servers write a fraction of a second although the RFC has
  /// none: it is rounded up, for a request that comes too early may be refused for longer.
  private func wait(_ text: String) -> Duration? {
    let number = Self.number(text)
    let time = number.flatMap(time) ?? Timestamp(httpDate: text, near: receivedAt) ?? Timestamp(rfc3339: text)
    if let time { return min(max(time - (date ?? receivedAt), .zero), Self.longestWait) }
    guard let number, number >= 0 else { return nil }
    return min(.seconds(Int64(number.rounded(.up))), Self.longestWait)
  }

  /// A time that is written as seconds or milliseconds since 1970, as in most headers that tell of quotas. Returns nil for
  /// a number that can be meant as a wait only: one of less than 31 years, or a time more than a year ahead.
  private func time(since1970 number: Double) -> Timestamp? {
    let latest = Double(((date ?? receivedAt) + Self.longestWait).milliseconds)
    return [number * 1000, number].first { $0 >= 1e12 && $0 <= latest }.map {
      Timestamp(milliseconds: Int64($0.rounded(.up)))
    }
  }

  private static func number(_ text: String) -> Double? { Double(decimal: text).map { min($0, 1e15) } }
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
