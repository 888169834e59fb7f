import HearthCore

/// The families of metrics. The raw value is the name, as OpenMetrics has it: with the unit, a counter's without `_total`.
enum MetricName: String, CaseIterable {
  case authenticated = "hearth_session_authenticated"
  case tokenRemaining = "hearth_token_remaining_seconds"
  case refreshes = "hearth_refreshes"
  case unauthorized = "hearth_unauthorized"
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
  /// Not `process_start_time_seconds`: a collector that passes these on has one of its own.
  case startTime = "hearth_start_time_seconds"

  /// Whether it goes on after a restart where it was before: what people ask about after one, and what seldom happens.
  /// The others begin at zero, as those who scrape expect it.
  var isKept: Bool { self == .automaticSignOuts || self == .signedOut }

  var kind: MetricFamily.Kind {
    switch self {
    case .authenticated, .tokenRemaining, .outboxItems, .outboxBytes, .connections, .subscriptions, .buildInfo,
      .startTime:
      .gauge
    case .refreshes, .unauthorized, .automaticSignOuts, .deliveredBytes, .attempts, .staleAnswers, .calls,
      .laggedSubscribers:
      .counter
    case .signedOut, .deliveryLatency, .attemptDuration, .callDuration: .histogram
    }
  }

  private var unit: String? { ["seconds", "bytes"].first { rawValue.hasSuffix("_" + $0) } }

  private var help: String {
    switch self {
    case .authenticated: "1 while the account is signed in and its grant can be used, else 0."
    case .tokenRemaining: "How long the access token lasts from now on; 0 once it has run out."
    case .refreshes: "Refreshes by result: success, unavailable, rejected or misconfigured."
    case .unauthorized: "Tokens in use that an API answered with 401, each counted once."
    case .automaticSignOuts:
      "Sessions that ended though nobody signed out, by reason, since the first start of the daemon."
    case .signedOut:
      "Time from the end of a session until the account was signed in again, by the reason of the end, since the first "
        + "start of the daemon."
    case .outboxItems: "Items in the outbox by state; those delivered and dead as long as they are kept."
    case .outboxBytes: "Size of the bodies, headers and URLs that the outbox keeps."
    case .deliveryLatency: "Time from the acceptance of an item until it was delivered, waits included."
    case .deliveredBytes: "Size of the bodies, headers and URLs that were delivered."
    case .attempts: "Requests that were sent for the outbox, by the class of the answer; none where no answer came."
    case .attemptDuration: "Time that an API took to answer one request of the outbox, or not to answer it."
    case .staleAnswers: "Earlier answers of an API that were given because it had none, or an error."
    case .calls:
      "Calls on the socket by method and result: success, or the kind of the error; what was no call has the method "
        + "unknown."
    case .callDuration: "Time from a call until its answer was ready, by method."
    case .connections: "Connections to the socket."
    case .subscriptions: "Subscriptions to events."
    case .laggedSubscribers: "Subscriptions that were closed because their reader was too slow."
    case .buildInfo: "Always 1; the label says which version this is."
    case .startTime: "When the daemon started, in Unix time."
    }
  }

  /// The upper bounds of a histogram's buckets.
  var bounds: [Duration] {
    switch self {
    case .signedOut:
      [.minutes(1), .minutes(5), .minutes(15), .hours(1), .hours(4), .hours(12), .hours(24), .hours(168)]
    case .deliveryLatency:
      [
        .milliseconds(50), .milliseconds(100), .milliseconds(500), .seconds(1), .seconds(5), .seconds(30), .minutes(5),
        .hours(1), .hours(6), .hours(24),
      ]
    case .attemptDuration:
      [
        .milliseconds(10), .milliseconds(50), .milliseconds(100), .milliseconds(250), .milliseconds(500), .seconds(1),
        .milliseconds(2500), .seconds(5), .seconds(10), .seconds(30),
      ]
    case .callDuration:
      [
        .microseconds(100), .microseconds(500), .milliseconds(1), .milliseconds(5), .milliseconds(10),
        .milliseconds(50), .milliseconds(100), .milliseconds(500), .seconds(1), .seconds(5), .seconds(30),
      ]
    case .authenticated, .tokenRemaining, .refreshes, .unauthorized, .automaticSignOuts, .outboxItems, .outboxBytes,
      .deliveredBytes, .attempts, .staleAnswers, .calls, .connections, .subscriptions, .laggedSubscribers, .buildInfo,
      .startTime:
      []
    }
  }

  func family(_ samples: [MetricSample]) -> MetricFamily {
    MetricFamily(name: rawValue, type: kind, unit: unit, help: help, samples: samples)
  }
}

extension Duration {
  fileprivate static func minutes(_ count: Int) -> Duration { .seconds(60 * count) }
  fileprivate static func hours(_ count: Int) -> Duration { .seconds(3600 * count) }

  /// Stops at the ends of `Int64`.
  var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, sumOverflow) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
    return overflow || sumOverflow ? (seconds < 0 ? .min : .max) : sum
  }
}
