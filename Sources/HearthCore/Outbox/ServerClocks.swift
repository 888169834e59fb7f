/// What an account's servers report about the time.
struct ServerClocks {
  private static let negligible = Duration.seconds(60)
  /// No certificate on the web is valid for longer. If this clock were wrong by more, no connection would succeed.
  private static let implausible = Duration.seconds(400 * 86_400)
  /// The number of responses without a time after which no server is expected to report one.
  private static let undatedAtMost = 8
  /// The number of unanswered questions for the time after which no server is expected to report it.
  private static let unansweredAtMost = 3

  /// Each server's clock minus this one, or zero if that is negligible. The key `nil` is the provider.
  private var skews: [Origin?: Duration] = [:]
  private var undated = 0
  private var unanswered = 0
  /// Whether a server has reported the time, or all are silent and this clock counts.
  private(set) var isTold = false

  /// The skew of the server that contradicts this clock least, or `nil` if none has reported the time.
  var skew: Duration? { skews.values.min { $0.magnitude < $1.magnitude } }

  /// Records the answer of a server that was asked for the time. `nil` means that it reported none, and so cannot
  /// contradict this clock. Returns whether anything changes.
  mutating func told(_ reported: Duration?, by origin: Origin?) -> Bool {
    let wasTold = isTold
    isTold = true
    guard let reported, reported.magnitude <= Self.implausible else { return !wasTold }
    let skew = reported.magnitude <= Self.negligible ? .zero : reported
    (undated, unanswered) = (0, 0)
    return skews.updateValue(skew, forKey: origin) != skew || !wasTold
  }

  /// Records the time of a response, and returns whether anything changes. A single response without a time changes
  /// nothing.
  mutating func answered(_ reported: Duration?, by origin: Origin?) -> Bool {
    guard let reported, reported.magnitude <= Self.implausible else {
      undated += 1
      return undated >= Self.undatedAtMost && told(nil, by: origin)
    }
    return told(reported, by: origin)
  }

  /// Records that a server did not answer the question for the time. Returns whether anything changes.
  mutating func keptSilent() -> Bool {
    unanswered += 1
    return unanswered >= Self.unansweredAtMost && told(nil, by: nil)
  }
}

extension Duration {
  var magnitude: Duration { self < .zero ? .zero - self : self }
}
