/// Compares the clocks of an account's servers with this machine's clock.
struct ServerClocks {
  private static let negligible = Duration.seconds(60)
  /// The difference above which a server's time is ignored. No public web certificate is valid for longer, so if this
  /// machine's clock were wrong by more, connections to public servers would fail.
  private static let implausible = Duration.seconds(400 * 86_400)
  /// The number of responses without a time after which Hearth no longer expects one.
  private static let undatedAtMost = 8
  /// Hearth stops asking for the time after this many unanswered requests.
  private static let unansweredAtMost = 3

  /// Each server's clock minus this machine's clock, or zero for negligible differences. The key `nil` stands for the
  /// provider.
  private var skews: [Origin?: Duration] = [:]
  private var undated = 0
  private var unanswered = 0
  /// Whether a server has reported the time, or Hearth relies on this machine's clock because no server reports it.
  private(set) var isTold = false

  /// The skew of the server whose clock differs least from this machine's clock, or `nil` if no server has reported the
  /// time.
  var skew: Duration? { skews.values.min { $0.magnitude < $1.magnitude } }

  /// Records a server's response to a request for the time, and returns whether anything has changed. If `reported` is
  /// `nil`, the response contains no time, so it cannot contradict this machine's clock.
  mutating func told(_ reported: Duration?, by origin: Origin?) -> Bool {
    let wasTold = isTold
    isTold = true
    guard let reported, reported.magnitude <= Self.implausible else { return !wasTold }
    let skew = reported.magnitude <= Self.negligible ? .zero : reported
    (undated, unanswered) = (0, 0)
    return skews.updateValue(skew, forKey: origin) != skew || !wasTold
  }

  /// Records the time in a response, and returns whether anything has changed. Responses without a time change nothing
  /// until `undatedAtMost` of them have arrived in a row.
  mutating func answered(_ reported: Duration?, by origin: Origin?) -> Bool {
    guard let reported, reported.magnitude <= Self.implausible else {
      undated += 1
      return undated >= Self.undatedAtMost && told(nil, by: origin)
    }
    return told(reported, by: origin)
  }

  /// Records that a server did not respond to a request for the time, and returns whether anything has changed.
  mutating func keptSilent() -> Bool {
    unanswered += 1
    return unanswered >= Self.unansweredAtMost && told(nil, by: nil)
  }
}

extension Duration {
  var magnitude: Duration { self < .zero ? .zero - self : self }
}
