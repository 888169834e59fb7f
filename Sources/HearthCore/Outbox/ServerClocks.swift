/// What the servers of an account tell of the time.
struct ServerClocks {
  private static let negligible = Duration.seconds(60)
  /// No certificate of the web is valid for longer: were this clock wrong by more, no connection would be made.
  private static let implausible = Duration.seconds(400 * 86_400)
  /// Answers without the time after which it is believed that nobody tells it.
  private static let undatedAtMost = 8
  /// The limit of questions after the time that nobody answers.
  private static let unansweredAtMost = 3

  /// Each server's clock less this one, or zero where that is negligible. Nil is the key of the provider.
  private var skews: [Origin?: Duration] = [:]
  private var undated = 0
  private var unanswered = 0
  /// Whether a server has told the time, or none of them tells it and this clock counts.
  private(set) var isTold = false

  /// That of the one which contradicts this clock least; nil where none has told the time.
  var skew: Duration? { skews.values.min { $0.magnitude < $1.magnitude } }

  /// Returns whether it changes anything. Nil where a server was asked and does not tell: it cannot contradict this clock.
  mutating func told(_ reported: Duration?, by origin: Origin?) -> Bool {
    let wasTold = isTold
    isTold = true
    guard let reported, reported.magnitude <= Self.implausible else { return !wasTold }
    let skew = reported.magnitude <= Self.negligible ? .zero : reported
    (undated, unanswered) = (0, 0)
    return skews.updateValue(skew, forKey: origin) != skew || !wasTold
  }

  /// A response came with this time, or with none: one without says nothing yet. Returns whether that changes anything.
  mutating func answered(_ reported: Duration?, by origin: Origin?) -> Bool {
    guard let reported, reported.magnitude <= Self.implausible else {
      undated += 1
      return undated >= Self.undatedAtMost && told(nil, by: origin)
    }
    return told(reported, by: origin)
  }

  /// A server was asked for the time and has not answered. Returns whether that changes anything.
  mutating func keptSilent() -> Bool {
    unanswered += 1
    return unanswered >= Self.unansweredAtMost && told(nil, by: nil)
  }
}

extension Duration {
  var magnitude: Duration { self < .zero ? .zero - self : self }
}
