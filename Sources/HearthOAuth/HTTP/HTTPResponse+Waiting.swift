import HearthCore

extension HTTPResponse {
  private static let longestWait = Duration.seconds(365 * 86_400)

  /// How long the server asks the client to wait, from zero to a year. Taken from `Retry-After` (RFC 9110, section
  /// 10.2.3) or, if that header is missing or malformed, from the rate limit that the request has reached. `nil` if the
  /// server does not say.
  var retryAfter: Duration? { header("Retry-After").flatMap(wait) ?? quotaReset }

  /// The time until the quota resets, if the response says that the quota is used up. Servers report this with a 429
  /// or, like GitHub, with a 403. With other statuses, the same headers only report the remaining quota, so Hearth
  /// ignores them.
  private var quotaReset: Duration? {
    guard status == 429 || status == 403 else { return nil }
    if let wait = limitReset { return wait }
    guard isExhausted(Self.quotaHeaders.lazy.compactMap { header($0 + "-Remaining") }.first) else { return nil }
    return Self.quotaHeaders.lazy.flatMap { [$0 + "-Reset-After", $0 + "-Reset"] }
      .compactMap { header($0).flatMap(wait) }.first
  }

  private static let quotaHeaders = ["RateLimit", "X-RateLimit", "X-Rate-Limit"]

  /// The longest wait among the exhausted quotas in the `RateLimit` header (IETF draft "RateLimit header fields for
  /// HTTP"). Since version 8 of the draft, the header looks like `"hour";r=0;t=30, "day";r=9;t=999`. Before, it looked
  /// like `limit=9, remaining=0, reset=30`.
  private var limitReset: Duration? {
    let quotas = header("RateLimit").map { $0.split(separator: ",").map(Self.parameters) } ?? []
    let all = quotas.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
    let waits = (quotas.map { ($0["r"], $0["t"]) } + [(all["remaining"], all["reset"])]).compactMap { left, wait in
      isExhausted(left) ? wait.flatMap(self.wait) : nil
    }
    return waits.max()
  }

  /// Returns whether the quota is used up. If `left` is not a number, a 429 counts as used up. A 429 with quota left
  /// has another cause, so the time of the reset does not help.
  private func isExhausted(_ left: String?) -> Bool { left.flatMap(Self.number).map { $0 <= 0 } ?? (status == 429) }

  private static func parameters(_ quota: Substring) -> [String: String] {
    let pairs = quota.split(separator: ";").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
    return Dictionary(pairs.filter { $0.count == 2 }.map { ($0[0].fieldValue, $0[1].fieldValue) }) { first, _ in first }
  }

  /// Parses a wait: a number of seconds or a time on the server's clock. Returns `nil` for other text. Rounds up
  /// fractions of a second, which many servers send against the RFC, because a server may penalize an early request.
  private func wait(_ text: String) -> Duration? {
    let number = Self.number(text)
    let time = number.flatMap(time) ?? Timestamp(httpDate: text, near: receivedAt) ?? Timestamp(rfc3339: text)
    if let time { return min(max(time - (date ?? receivedAt), .zero), Self.longestWait) }
    guard let number, number >= 0 else { return nil }
    return min(.seconds(Int64(number.rounded(.up))), Self.longestWait)
  }

  /// Parses seconds or milliseconds since 1970, as sent in most quota headers. Returns `nil` for a number that can only
  /// be a number of seconds to wait, because as a time it would be before 2001 or more than a year ahead.
  private func time(since1970 number: Double) -> Timestamp? {
    let latest = Double(((date ?? receivedAt) + Self.longestWait).milliseconds)
    return [number * 1000, number].first { $0 >= 1e12 && $0 <= latest }.map {
      Timestamp(milliseconds: Int64($0.rounded(.up)))
    }
  }

  private static func number(_ text: String) -> Double? { Double(decimal: text).map { min($0, 1e15) } }
}

extension String {
  /// The text as a received header field value: without surrounding whitespace, and with CR, LF and NUL replaced by
  /// spaces (RFC 9110, section 5.5).
  var fieldValue: String {
    let value = utf8.map { [0x00, 0x0A, 0x0D].contains($0) ? 0x20 : $0 }
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    guard let first = value.firstIndex(where: { !isBlank($0) }), let last = value.lastIndex(where: { !isBlank($0) })
    else { return "" }
    return String(decoding: value[first...last], as: UTF8.self).streamSafe
  }
}
