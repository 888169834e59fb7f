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

  var kind: MetricFamily.Kind {
    switch definition.shape {
    case .gauge: .gauge
    case .counter: .counter
    case .histogram: .histogram
    }
  }

  /// The upper bounds of a histogram's buckets. Empty for other kinds of metrics.
  var bounds: [Duration] { if case .histogram(let bounds) = definition.shape { bounds } else { [] } }

  private var unit: String? { ["seconds", "bytes"].first { rawValue.hasSuffix("_" + $0) } }

  private enum Shape {
    case gauge, counter
    case histogram([Duration])
  }

  private var definition: (shape: Shape, help: String) {
    switch self {
    case .authenticated: (.gauge, "1 if the account's session is authenticated, otherwise 0.")
    case .tokenRemaining: (.gauge, "Remaining lifetime of the access token; 0 once it has expired.")
    case .refreshes: (.counter, "Refreshes by result: success, unavailable, rejected or misconfigured.")
    case .unauthorized: (.counter, "Current tokens that an API rejected with 401. Each token counts once.")
    case .tokensGiven: (.counter, "Tokens given to programs.")
    case .requests:
      (
        .counter,
        "Requests sent for programs, by response: 2xx, 3xx, 401, 4xx, 5xx or none (no response)."
      )
    case .automaticSignOuts:
      (
        .counter,
        "Sessions that ended without a sign-out, by the reason they ended, since the daemon's first start."
      )
    case .signedOut:
      (
        .histogram(
          [.minutes(1), .minutes(5), .minutes(15), .hours(1), .hours(4), .hours(12), .hours(24), .hours(168)]),
        "Time from the end of a session to the account's next sign-in, by the reason the session ended, since the "
          + "daemon's first start."
      )
    case .outboxItems:
      (.gauge, "Items in the outbox by state, including delivered and dead items until they are removed.")
    case .outboxBytes: (.gauge, "Size of the bodies, headers and URLs in the outbox.")
    case .deliveryLatency:
      (
        .histogram([
          .milliseconds(50), .milliseconds(100), .milliseconds(500), .seconds(1), .seconds(5), .seconds(30),
          .minutes(5), .hours(1), .hours(6), .hours(24),
        ]),
        "Time from enqueueing an item to delivering it, including waits."
      )
    case .deliveredBytes: (.counter, "Size of the bodies, headers and URLs that were delivered.")
    case .attempts:
      (
        .counter,
        "Requests sent for the outbox, by response: 2xx, 3xx, 401, 4xx, 5xx or none (no response)."
      )
    case .attemptDuration:
      (
        .histogram([
          .milliseconds(10), .milliseconds(50), .milliseconds(100), .milliseconds(250), .milliseconds(500),
          .seconds(1), .milliseconds(2500), .seconds(5), .seconds(10), .seconds(30),
        ]),
        "Time from the start of an outbox request until the API responds or the request fails."
      )
    case .staleAnswers:
      (.counter, "Cached responses returned because Hearth could not get a new response.")
    case .calls:
      (
        .counter,
        "Calls on the socket by method and result (success, or the kind of error). The method is 'unknown' for "
          + "unsupported methods, lines that are not valid calls, and connections over the limit."
      )
    case .callDuration:
      (
        .histogram([
          .microseconds(100), .microseconds(500), .milliseconds(1), .milliseconds(5), .milliseconds(10),
          .milliseconds(50), .milliseconds(100), .milliseconds(500), .seconds(1), .seconds(5), .seconds(30),
        ]),
        "Time from a call to its response, by method."
      )
    case .connections: (.gauge, "Open connections to the socket.")
    case .subscriptions: (.gauge, "Active subscriptions to events.")
    case .laggedSubscribers: (.counter, "Subscriptions that were closed because their reader was too slow.")
    case .buildInfo: (.gauge, "Always 1. The label contains the version.")
    case .startTime: (.gauge, "Unix time at which the daemon started.")
    }
  }

  func family(_ samples: [MetricSample]) -> MetricFamily {
    MetricFamily(name: rawValue, type: kind, unit: unit, help: definition.help, samples: samples)
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
