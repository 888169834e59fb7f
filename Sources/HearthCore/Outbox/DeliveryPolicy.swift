/// What an answer, or the lack of one, makes of an item.
///
/// A 401 is not decided here: it depends on the token and on what others are answered (see `TokenAcceptance`).
package struct DeliveryPolicy: Hashable, Sendable {
  /// The first request with this key is still running, says 409: believed this often.
  static let maxConflicts = 5
  static let maxErrorBytes = 4096

  package let settings: OutboxSettings
  private let retry: RetryPolicy

  package init(_ settings: OutboxSettings) {
    self.settings = settings
    retry = RetryPolicy(initial: settings.retryInitial, max: settings.retryMax)
  }

  /// Not the API but something before it spoke: a proxy (407), a captive portal (511; RFC 6585, section 6).
  package static func meansOffline(_ answer: APIResponse) -> Bool {
    answer.status == 407 || answer.status == 511
  }

  package func verdict(
    on answer: APIResponse, to delivery: Delivery, sentAt: Timestamp, at now: Timestamp, random: Double
  ) -> DeliveryOutcome {
    let status = answer.status
    switch status {
    case 200...299: return .delivered(status: status)
    case 300...399:
      return .dead(.redirected, status: status, error: "The server redirects to another place (\(status)).")
    case 409 where delivery.conflicts >= Self.maxConflicts: return rejected(answer)
    case 408, 409, 425, 429:
      return retried(delivery, answer.retryAfter, status: status, sentAt: sentAt, at: now, random: random)
    case 400...499, 501, 505: return rejected(answer)
    default:
      return retried(delivery, answer.retryAfter, status: status, sentAt: sentAt, at: now, random: random)
    }
  }

  /// The request was sent and no answer came.
  package func verdict(
    unanswered message: String, _ delivery: Delivery, sentAt: Timestamp, at now: Timestamp, random: Double
  ) -> DeliveryOutcome {
    retried(delivery, nil, status: nil, message: message, sentAt: sentAt, at: now, random: random)
  }

  package func rejected(_ answer: APIResponse) -> DeliveryOutcome {
    .dead(.rejected, status: answer.status, error: Self.describe(answer))
  }

  /// Whether an item whose fate is unknown since `unknownSince` may be sent again unasked.
  package func mayBeSent(method: String, unknownSince: Timestamp?, at now: Timestamp) -> Bool {
    guard let unknownSince else { return true }
    return Self.mayBeRepeated(method) || now - unknownSince <= settings.idempotencyHorizon
  }

  private static func mayBeRepeated(_ method: String) -> Bool { ["PUT", "DELETE", "GET"].contains(method) }

  private func retried(
    _ delivery: Delivery, _ retryAfter: Duration?, status: Int?, message: String? = nil, sentAt: Timestamp,
    at now: Timestamp, random: Double
  ) -> DeliveryOutcome {
    let attempts = delivery.attempts + 1
    let error = message ?? "The server answered \(status ?? 0)."
    guard attempts < settings.maxAttempts else { return .dead(.attemptsExhausted, status: status, error: error) }
    let isFateUnknown = status == nil || status == 502 || status == 504
    var until = now + retry.wait(failures: attempts, retryAfter: retryAfter, random: random)
    if let unknownSince = delivery.unknownSince ?? (isFateUnknown ? sentAt : nil),
      !Self.mayBeRepeated(delivery.request.method)
    {
      // Beyond the horizon it would not be sent: it is held at once, and holds its lane no longer.
      until = min(until, unknownSince + settings.idempotencyHorizon + .milliseconds(1))
    }
    return .waiting(
      DeliveryOutcome.Wait(
        until: until, unknownSince: isFateUnknown ? sentAt : nil, isConflict: status == 409, status: status,
        error: error))
  }

  /// The status and the first 4 KiB of the answer.
  private static func describe(_ answer: APIResponse) -> String {
    // NUL ends a text in many a place where it will be shown.
    let bytes = answer.body.prefix(maxErrorBytes).map { $0 == 0 ? UInt8(ascii: " ") : $0 }
    let text = String(decoding: bytes, as: UTF8.self)
    return text.isEmpty ? "The server answered \(answer.status)." : "\(answer.status): \(text)"
  }
}

/// What becomes of an item that was taken to be sent.
package enum DeliveryOutcome: Hashable, Sendable {
  case delivered(status: Int)
  /// Charged; due again at `until`.
  case waiting(Wait)
  /// Uncharged: no connection to its origin, which is tried again at `probeAt` with one request.
  case unreachable(probeAt: Timestamp, status: Int?, error: String)
  case dead(OutboxItem.Reason, status: Int?, error: String)
  /// Back to its place, uncharged.
  case released

  package struct Wait: Hashable, Sendable {
    package var until: Timestamp
    /// When it was sent, where nobody knows whether it has been done.
    package var unknownSince: Timestamp?
    package var isConflict: Bool
    package var status: Int?
    package var error: String

    package init(until: Timestamp, unknownSince: Timestamp?, isConflict: Bool, status: Int?, error: String) {
      self.until = until
      self.unknownSince = unknownSince
      self.isConflict = isConflict
      self.status = status
      self.error = error
    }
  }

  /// Whether the lane goes on with the next item at once.
  package var leavesLane: Bool {
    switch self {
    case .delivered, .dead: true
    case .waiting, .unreachable, .released: false
    }
  }
}
