/// Decides what happens to an item after a response from the API, or after a request that got no response.
///
/// `OutboxMachine` handles a 407, a 511, and a 401 without a step-up challenge. The meaning of such a 401 depends on
/// the token and on the responses to other items (see `TokenAcceptance`).
package struct DeliveryPolicy: Hashable, Sendable {
  /// The maximum number of retries after a 409 without `Retry-After`. An item is retried after such a 409 because an
  /// earlier request with the same idempotency key may still be running.
  static let maxConflicts = 5
  static let maxErrorBytes = 4096

  package let settings: OutboxSettings

  package init(_ settings: OutboxSettings) { self.settings = settings }

  /// Returns whether the response came from a proxy (407) or a captive portal (511; RFC 6585, section 6) instead of the
  /// API.
  package static func meansOffline(_ response: APIResponse) -> Bool { response.status == 407 || response.status == 511 }

  /// Returns whether the response is a 2xx with an HTML page although the request or `content` asks for JSON. TLS rules
  /// out a captive portal, so the page comes from the API or its gateway, and Hearth cannot tell whether the request
  /// was processed.
  package static func isPageForJSON(
    _ response: APIResponse, to request: APIRequest, expecting content: ExpectedContent?
  ) -> Bool {
    (200...299).contains(response.status) && (content == .json || request.acceptsOnlyJSON) && response.isHTML
  }

  /// Returns the outcome of a delivery that got a response. `challenge` describes what the API requires beyond a fresh
  /// token, `content` is what the item or its account expects, and `random` is in 0..<1.
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
      return .dead(.rejected, status: status, error: "The account's configuration says not to retry: \(error)")
    case .retry:
      return retried("The server returned HTTP \(status), and the account's configuration says to retry.")
    }
    if let challenge { return .needsStepUp(status: status, error: challenge.sentence) }
    switch status {
    case 200...299 where Self.isPageForJSON(response, to: delivery.request, expecting: content):
      return retried(
        "The server returned HTTP \(status) with a web page instead of JSON, so it is unknown whether the request took "
          + "effect.")
    case 200...299: return .delivered(status: status)
    case 300...399:
      return .dead(
        .redirected, status: status,
        error: "The server redirected the request (HTTP \(status)), but queued requests do not follow redirects.")
    case 409 where response.retryAfter == nil && delivery.progress.conflicts >= Self.maxConflicts:
      return rejected(response)
    case 408, 409, 423, 425, 429: return retried()
    // A 403 or a 413 (RFC 9110, section 15.5.14) is temporary only if the server says when to retry.
    case 403 where response.retryAfter != nil, 413 where response.retryAfter != nil: return retried()
    case 400...499, 501, 505: return rejected(response)
    default: return retried()
    }
  }

  /// Returns the outcome for a request that was sent but got no response.
  package func outcome(
    unanswered message: String, _ delivery: Delivery, sentAt: Timestamp, at now: Timestamp, random: Double
  ) -> DeliveryOutcome {
    retried(delivery, nil, status: nil, message: message, sentAt: sentAt, at: now, random: random)
  }

  package func rejected(_ response: APIResponse) -> DeliveryOutcome {
    .dead(.rejected, status: response.status, error: Self.describe(response))
  }

  /// Returns whether Hearth may send an item without asking the user. If an earlier request's result has been unknown
  /// since `unknownSince`, Hearth may repeat a PUT, DELETE or GET at any time, and other methods only within the
  /// idempotency horizon.
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
    let error = message ?? "The server returned HTTP \(status ?? 0)."
    guard attempts < settings.maxAttempts else { return .dead(.attemptsExhausted, status: status, error: error) }
    let isFateUnknown = status.map { (200...299).contains($0) || $0 == 502 || $0 == 504 } ?? true
    var wait = settings.retry.wait(failures: attempts, retryAfter: retryAfter, random: random)
    if let unknownSince = delivery.progress.unknownSince ?? (isFateUnknown ? sentAt : nil),
      !Self.mayBeRepeated(delivery.request.method)
    {
      // After the horizon, the item must not be sent again. Make it due right after the horizon at the latest, so that
      // the next claim holds it for review without further delay.
      wait = min(wait, settings.idempotencyHorizon + .milliseconds(1) - (now - unknownSince))
    }
    return .waiting(
      DeliveryOutcome.Wait(
        duration: wait, unknownFor: isFateUnknown ? now - sentAt : nil, isConflict: status == 409 && retryAfter == nil,
        status: status, error: error))
  }

  /// Returns the status and the first 4 KiB of the body, or a sentence with the status if the body is empty.
  private static func describe(_ response: APIResponse) -> String {
    // Many programs stop displaying a string at a NUL byte, so replace NUL bytes with spaces.
    let bytes = response.body.prefix(maxErrorBytes).map { $0 == 0 ? UInt8(ascii: " ") : $0 }
    let text = String(decoding: bytes, as: UTF8.self)
    return text.isEmpty ? "The server returned HTTP \(response.status)." : "\(response.status): \(text)"
  }
}

/// The result of an attempt to deliver an item.
package enum DeliveryOutcome: Hashable, Sendable {
  case delivered(status: Int)
  /// The item is due again after `wait.duration`. The attempt counts.
  case waiting(Wait)
  /// The request did not reach the API. `probeIn` is the time until the next try. The attempt does not count.
  case unreachable(probeIn: Duration, status: Int?, error: String)
  case dead(OutboxItem.Reason, status: Int?, error: String)
  /// The API requires more than a fresh token, so the item is held in place until the user signs in again or retries
  /// the item. The attempt does not count.
  case needsStepUp(status: Int, error: String)
  /// The item can be claimed again and keeps its position. The attempt does not count.
  case released

  package struct Wait: Hashable, Sendable {
    package var duration: Duration
    /// The time since the request was sent, or `nil` if it is known whether the API has processed the request.
    package var unknownFor: Duration?
    package var isConflict: Bool
    package var status: Int?
    package var error: String

    package init(duration: Duration, unknownFor: Duration?, isConflict: Bool, status: Int?, error: String) {
      (self.duration, self.unknownFor, self.isConflict) = (duration, unknownFor, isConflict)
      (self.status, self.error) = (status, error)
    }
  }

  /// Returns the error message for an item whose origin is not in the account's `api_origins`.
  package static func foreignOrigin(_ origin: some CustomStringConvertible) -> String {
    "\(origin) is not in the account's api_origins. Hearth sends the item once the origin is configured again."
  }

  /// Whether the item leaves its lane. If so, the next item in the lane can be sent.
  package var leavesLane: Bool {
    switch self {
    case .delivered, .dead: true
    case .waiting, .unreachable, .needsStepUp, .released: false
    }
  }
}
