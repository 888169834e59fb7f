/// One lane claim on its way: its deliveries are sent one after the other.
struct Sender {
  enum Step: Hashable {
    /// The next delivery is to be begun.
    case between
    /// A token is needed.
    case unauthorized
    /// The request can be sent with this token.
    case authorized(Bearer)
    case sending(Bearer, since: Timestamp)
    /// An API has answered 401 to this token: there may be another one by now.
    case rejected(Bearer, APIResponse, isSecond: Bool)
    /// It is the token that took the place of a rejected one. Whether its 401 is about the item or about the session shows
    /// in the responses to others.
    case judging(Bearer, APIResponse, isSecond: Bool)
    /// A token is needed in place of this one.
    case renewing(Bearer)
  }

  let kind: OutboxKinds
  let origin: Origin?
  var epoch: Int64
  /// What is to be sent after `current`.
  var rest: ArraySlice<Delivery>
  var current: Delivery?
  var step = Step.between
  /// How many requests were sent for `current`, and whether one was answered 401.
  var requests = 0
  var wasRejected = false
  /// Whether the clock was set while the last request was under way. The skew of its response may be that of the clock
  /// before.
  var isTimeDoubtful = false
  /// The user has signed out since: where users have no names, the next one's token is told from theirs by this alone.
  var hasUserLeft = false
  /// Since when `current` is under way.
  var begunAt: Timestamp?

  init(_ claim: LaneClaim, _ kind: OutboxKinds) {
    self.kind = kind
    origin = claim.origin
    epoch = claim.epoch
    rest = claim.deliveries[...]
  }

  /// What is claimed and not settled.
  var underWay: [Delivery] { (current.map { [$0] } ?? []) + rest }

  var isJudging: Bool {
    if case .judging = step { true } else { false }
  }

  /// Whether the request has been under way for so long that the sender keeps no quicker one waiting.
  func isSlow(at now: Timestamp) -> Bool { slowAt.map { $0 <= now } ?? false }

  /// Its token may take long as well.
  var slowAt: Timestamp? { current == nil ? nil : begunAt.map { $0 + Self.slow } }

  private static let slow = Duration.seconds(1)

  /// The clock was stepped.
  mutating func shift(by shift: Duration) {
    if case .sending(let bearer, let since) = step {
      step = .sending(bearer, since: since + shift)
      if shift != .zero { isTimeDoubtful = true }
    }
    begunAt = begunAt.map { $0 + shift }
    current?.shift(by: shift)
    for index in rest.indices { rest[index].shift(by: shift) }
  }
}

extension Delivery {
  var kind: OutboxKinds { item.lane == nil ? .unordered : .lanes }

  mutating func shift(by shift: Duration) { unknownSince = unknownSince.map { $0 + shift } }

  /// Its last request got no response.
  var wasUnanswered: Bool { unknownSince != nil && item.lastStatus == nil }
}

extension LaneClaim {
  var kind: OutboxKinds { deliveries.first?.kind ?? .lanes }
  var origin: Origin? { deliveries.first?.request.url.origin }

  mutating func shift(by shift: Duration) {
    for index in deliveries.indices where deliveries[index].unknownSince != nil {
      deliveries[index].shift(by: shift)
    }
  }
}

extension Collection<Delivery> {
  var bytes: Int { reduce(0) { $0 + $1.item.bytes } }
}
