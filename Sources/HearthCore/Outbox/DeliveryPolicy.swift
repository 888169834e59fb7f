/// Decides what happens to an item after a response from the API, or if there was none (contract, section 6).
///
/// A 401 is not decided here: it depends on the token, and on the responses to other items (see `TokenAcceptance`).
package struct DeliveryPolicy: Hashable, Sendable {
  /// How many 409 responses (the first request with this key is still running) are retried without a `Retry-After`.
  static let maxConflicts = 5
  static let maxErrorBytes = 4096

  package let settings: OutboxSettings

  package init(_ settings: OutboxSettings) { self.settings = settings }

  /// Whether the response came from a proxy (407) or a captive portal (511, RFC 6585, section 6), not from the API.
  package static func meansOffline(_ response: APIResponse) -> Bool { response.status == 407 || response.status == 511 }

  /// Whether a success is an HTML page although JSON was asked for. A captive portal cannot answer for a verified
  /// origin, so the API or its gateway sent the page, and nobody knows whether the request was carried out.
  package static func isPageForJSON(
    _ response: APIResponse, to request: APIRequest, expecting content: ExpectedContent?
  ) -> Bool {
    (200...299).contains(response.status) && (content == .json || request.acceptsOnlyJSON) && response.isHTML
  }

  /// `challenge` is what the response asks for beyond a fresh token. `content` is what the item or its account expects.
  /// `overrides` are the account's at the time of the response. `random` is in 0..<1.
  package func outcome(
    on response: APIResponse, _ challenge: Challenge? = nil, to delivery: Delivery,
    expecting content: ExpectedContent? = nil,
    overriding overrides: DeliveryOverrides, sentAt: Timestamp, at now: Timestamp, random: Double
  ) -> DeliveryOutcome {
    let status = response.status
    func retried(_ message: String? = nil) -> DeliveryOutcome {
      self.retried(
        delivery, response.retryAfter, status: status, message: message, sentAt: sentAt, at: now, random: random)
    }
    switch overrides[status] {
    case nil: break
    case .delivered: return .delivered(status: status)
    case .dead:
      let error = Self.describe(response)
      return .dead(.rejected, status: status, error: "The account's configuration marks this as dead: \(error)")
    case .retry:
      return retried("The server answered \(status), and the account's configuration says to retry.")
    }
    if let challenge { return .needsStepUp(status: status, error: challenge.sentence) }
    switch status {
    case 200...299 where Self.isPageForJSON(response, to: delivery.request, expecting: content):
      return retried(
        "The server answered \(status) with a web page instead of JSON, so it is unknown whether it acted on this.")
    case 200...299: return .delivered(status: status)
    case 300...399:
      return .dead(.redirected, status: status, error: "The server redirects to another place (\(status)).")
    case 409 where response.retryAfter == nil && delivery.conflicts >= Self.maxConflicts: return rejected(response)
    case 408, 409, 423, 425, 429: return retried()
    // Final, unless the server says how long to wait: 403 for a limit, 413 (RFC 9110, section 15.5.14).
    case 403 where response.retryAfter != nil, 413 where response.retryAfter != nil: return retried()
    case 400...499, 501, 505: return rejected(response)
    default: return retried()
    }
  }

  /// The outcome for a request that was sent and got no response.
  package func outcome(
    unanswered message: String, _ delivery: Delivery, sentAt: Timestamp, at now: Timestamp, random: Double
  ) -> DeliveryOutcome {
    retried(delivery, nil, status: nil, message: message, sentAt: sentAt, at: now, random: random)
  }

  package func rejected(_ response: APIResponse) -> DeliveryOutcome {
    .dead(.rejected, status: response.status, error: Self.describe(response))
  }

  /// Whether an item may be sent again without asking, if its result has been unknown since `unknownSince`.
  package func mayBeSent(method: String, unknownSince: Timestamp?, at now: Timestamp) -> Bool {
    guard let unknownSince else { return true }
    return Self.mayBeRepeated(method) || now - unknownSince <= settings.idempotencyHorizon
  }

  private static func mayBeRepeated(_ method: String) -> Bool { ["PUT", "DELETE", "GET"].contains(method) }

  private func retried(
    _ delivery: Delivery, _ retryAfter: Duration?, status: Int?, message: String? = nil, sentAt: Timestamp,
    at now: Timestamp, random: Double
  ) -> DeliveryOutcome {
    let attempts = delivery.item.attempts + 1
    let error = message ?? "The server answered \(status ?? 0)."
    guard attempts < settings.maxAttempts else { return .dead(.attemptsExhausted, status: status, error: error) }
    let isFateUnknown = status.map { (200...299).contains($0) || $0 == 502 || $0 == 504 } ?? true
    var wait = settings.retry.wait(failures: attempts, retryAfter: retryAfter, random: random)
    if let unknownSince = delivery.unknownSince ?? (isFateUnknown ? sentAt : nil),
      !Self.mayBeRepeated(delivery.request.method)
    {
      // It must not be sent after the horizon. It becomes due then, so that it is held for review and leaves its lane.
      wait = min(wait, settings.idempotencyHorizon + .milliseconds(1) - (now - unknownSince))
    }
    return .waiting(
      DeliveryOutcome.Wait(
        duration: wait, unknownFor: isFateUnknown ? now - sentAt : nil, isConflict: status == 409 && retryAfter == nil,
        status: status, error: error))
  }

  /// The status and the first 4 KiB of the body.
  private static func describe(_ response: APIResponse) -> String {
    // Many programs stop displaying a text at a NUL byte.
    let bytes = response.body.prefix(maxErrorBytes).map { $0 == 0 ? UInt8(ascii: " ") : $0 }
    let text = String(decoding: bytes, as: UTF8.self)
    return text.isEmpty ? "The server answered \(response.status)." : "\(response.status): \(text)"
  }
}

/// What happens to an item after it was claimed.
package enum DeliveryOutcome: Hashable, Sendable {
  case delivered(status: Int)
  /// The attempt counts, and the item is due again after `wait.duration`.
  case waiting(Wait)
  /// The origin is unreachable. The attempt does not count, and one request probes the origin after `probeIn`.
  case unreachable(probeIn: Duration, status: Int?, error: String)
  case dead(OutboxItem.Reason, status: Int?, error: String)
  /// The API wants more than a fresh token: the item is held in its place for a new sign-in. The attempt does not
  /// count.
  case needsStepUp(status: Int, error: String)
  /// The item is pending again in its old position, and the attempt does not count.
  case released

  package struct Wait: Hashable, Sendable {
    package var duration: Duration
    /// How long ago the request was sent, if it is unknown whether the API has acted on it.
    package var unknownFor: Duration?
    package var isConflict: Bool
    package var status: Int?
    package var error: String

    package init(duration: Duration, unknownFor: Duration?, isConflict: Bool, status: Int?, error: String) {
      (self.duration, self.unknownFor, self.isConflict) = (duration, unknownFor, isConflict)
      (self.status, self.error) = (status, error)
    }
  }

  /// The error of an item whose origin is not one of the account's `api_origins`.
  package static func foreignOrigin(_ origin: some CustomStringConvertible) -> String {
    "\(origin) is not one of the account's api_origins. Hearth sends the item once it is configured again."
  }

  /// Whether the next item of the lane may be sent at once.
  package var leavesLane: Bool {
    switch self {
    case .delivered, .dead: true
    case .waiting, .unreachable, .needsStepUp, .released: false
    }
  }
}
