import HearthCore

/// The metric families. Raw values are the OpenMetrics names. They include the unit, but not the `_total` of counters.
enum MetricName: String, CaseIterable {
  case authenticated = "hearth_session_authenticated"
  case tokenRemaining = "hearth_token_remaining_seconds"
  case refreshes = "hearth_refreshes"
  case unauthorized = "hearth_unauthorized"
  case tokensGiven = "hearth_tokens_given"
  case requests = "hearth_requests"
  case automaticSignOuts = "hearth_automatic_sign_outs"
  case signedOut = "hearth_signed_out_seconds"
  case outboxItems = "hearth_outbox_items"
  case outboxBytes = "hearth_outbox_bytes"
  case deliveryLatency = "hearth_delivery_latency_seconds"
  case deliveredBytes = "hearth_delivered_bytes"
  case attempts = "hearth_delivery_attempts"
  case attemptDuration = "hearth_delivery_attempt_duration_seconds"
  case staleAnswers = "hearth_stale_answers"
  case calls = "hearth_rpc_calls"
  case callDuration = "hearth_rpc_duration_seconds"
  case connections = "hearth_connections"
  case subscriptions = "hearth_subscriptions"
  case laggedSubscribers = "hearth_lagged_subscribers"
  case buildInfo = "hearth_build_info"
  /// The daemon's start time. The usual name `process_start_time_seconds` would be ambiguous, because a collector that
  /// forwards metrics reports its own start time under that name.
  case startTime = "hearth_start_time_seconds"

  /// Whether the count survives restarts. Such counts rarely change, and users ask about them after a restart. All
  /// other counts start at zero, as scrapers expect.
  var isKept: Bool { self == .automaticSignOuts || self == .signedOut }

  private var unit: String? { ["seconds", "bytes"].first { rawValue.hasSuffix("_" + $0) } }

  /// `bounds` are the upper bounds of a histogram's buckets. They are empty for other kinds of metrics.
  typealias Definition = (kind: MetricFamily.Kind, help: String, bounds: [Duration])

  private static func gauge(_ help: String) -> Definition { (.gauge, help, []) }
  private static func counter(_ help: String) -> Definition { (.counter, help, []) }
  private static func histogram(_ bounds: [Duration], _ help: String) -> Definition { (.histogram, help, bounds) }

  var definition: Definition {
    switch self {
    case .authenticated: Self.gauge("1 if the account's session is authenticated, otherwise 0.")
    case .tokenRemaining: Self.gauge("Remaining lifetime of the access token; 0 once it has expired.")
    case .refreshes: Self.counter("Refreshes by result: success, unavailable, rejected or misconfigured.")
    case .unauthorized: Self.counter("Current tokens that an API rejected with 401. Each token counts once.")
    case .tokensGiven: Self.counter("Tokens given to programs.")
    case .requests:
      Self.counter("Requests sent for programs, by response: 2xx, 3xx, 401, 4xx, 5xx or none (no response).")
    case .automaticSignOuts:
      Self.counter("Sessions that ended without a sign-out, by the reason they ended, since the daemon's first start.")
    case .signedOut:
      Self.histogram(
        [.minutes(1), .minutes(5), .minutes(15), .hours(1), .hours(4), .hours(12), .hours(24), .hours(168)],
        "Time from the end of a session to the account's next sign-in, by the reason the session ended, since the "
          + "daemon's first start.")
    case .outboxItems:
      Self.gauge("Items in the outbox by state, including delivered and dead items until they are removed.")
    case .outboxBytes: Self.gauge("Size of the bodies, headers and URLs in the outbox.")
    case .deliveryLatency:
      Self.histogram(
        [
          .milliseconds(50), .milliseconds(100), .milliseconds(500), .seconds(1), .seconds(5), .seconds(30),
          .minutes(5), .hours(1), .hours(6), .hours(24),
        ],
        "Time from enqueueing an item to delivering it, including waits.")
    case .deliveredBytes: Self.counter("Size of the bodies, headers and URLs that were delivered.")
    case .attempts:
      Self.counter("Requests sent for the outbox, by response: 2xx, 3xx, 401, 4xx, 5xx or none (no response).")
    case .attemptDuration:
      Self.histogram(
        [
          .milliseconds(10), .milliseconds(50), .milliseconds(100), .milliseconds(250), .milliseconds(500),
          .seconds(1), .milliseconds(2500), .seconds(5), .seconds(10), .seconds(30),
        ],
        "Time from the start of an outbox request until the API responds or the request fails.")
    case .staleAnswers: Self.counter("Cached responses returned because Hearth could not get a new response.")
    case .calls:
      Self.counter(
        "Calls on the socket by method and result (success, or the kind of error). The method is 'unknown' for "
          + "unsupported methods, lines that are not valid calls, and connections over the limit.")
    case .callDuration:
      Self.histogram(
        [
          .microseconds(100), .microseconds(500), .milliseconds(1), .milliseconds(5), .milliseconds(10),
          .milliseconds(50), .milliseconds(100), .milliseconds(500), .seconds(1), .seconds(5), .seconds(30),
        ],
        "Time from a call to its response, by method.")
    case .connections: Self.gauge("Open connections to the socket.")
    case .subscriptions: Self.gauge("Active subscriptions to events.")
    case .laggedSubscribers: Self.counter("Subscriptions that were closed because their reader was too slow.")
    case .buildInfo: Self.gauge("Always 1. The label contains the version.")
    case .startTime: Self.gauge("Unix time at which the daemon started.")
    }
  }

  func family(_ samples: [MetricSample]) -> MetricFamily {
    MetricFamily(name: rawValue, type: definition.kind, unit: unit, help: definition.help, samples: samples)
  }
}

extension Duration {
  fileprivate static func minutes(_ count: Int) -> Duration { .seconds(60 * count) }
  fileprivate static func hours(_ count: Int) -> Duration { .seconds(3600 * count) }

  /// The duration in nanoseconds, clamped to the range of `Int64`.
  var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, sumOverflow) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
    return overflow || sumOverflow ? (seconds < 0 ? .min : .max) : sum
  }
}
