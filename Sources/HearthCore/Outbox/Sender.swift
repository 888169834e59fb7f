/// A lane claim that is being sent: its deliveries are sent one after the other.
struct Sender {
  enum Step: Hashable {
    /// The next delivery can begin.
    case between
    /// A token is needed.
    case unauthorized
    /// The request can be sent with this token.
    case authorized(Bearer)
    case sending(Bearer, since: Timestamp)
    /// An API has answered 401 to this token. There may be another one by now.
    case rejected(Bearer, APIResponse, isSecond: Bool)
    /// A replacement token was answered with 401. Responses to other items show whether the item or the session is at
    /// fault.
    case judging(Bearer, APIResponse, isSecond: Bool)
    /// A token is needed to replace this one, which was answered 401.
    case renewing(Bearer, APIResponse)
  }

  let kind: OutboxKinds
  let origin: Origin?
  var epoch: Int64
  /// The deliveries to send after `current`.
  var rest: ArraySlice<Delivery>
  var current: Delivery?
  var step = Step.between
  /// The number of requests that were sent for `current`, and whether one was answered with 401.
  var requests = 0
  var wasRejected = false
  /// Whether one of these requests may have left. Without a connection none has.
  var hasLeft = false
  /// Whether the clock was set during the last request, so that its skew may refer to the old time.
  var isTimeDoubtful = false
  /// Whether the user has signed out since. If users have no names, nothing else distinguishes the next user's token.
  var hasUserLeft = false
  /// The time at which `current` began.
  var begunAt: Timestamp?

  init(_ claim: LaneClaim, _ kind: OutboxKinds) {
    self.kind = kind
    origin = claim.origin
    epoch = claim.epoch
    rest = claim.deliveries[...]
  }

  /// The deliveries that are claimed and not settled.
  var underWay: [Delivery] { (current.map { [$0] } ?? []) + rest }

  var isJudging: Bool { if case .judging = step { true } else { false } }

  /// Whether the request has been under way for so long that it counts as slow.
  func isSlow(at now: Timestamp) -> Bool { slowAt.map { $0 <= now } ?? false }

  /// When the sender starts to count as slow. Waiting for its token counts too.
  var slowAt: Timestamp? { current == nil ? nil : begunAt.map { $0 + Self.slow } }

  private static let slow = Duration.seconds(1)

  /// Called when the clock was stepped.
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

/// Identifies a sender during its life.
package typealias SenderID = Int

/// What a sender has to do next. The result is returned to the machine.
package enum SenderStep: Hashable, Sendable {
  /// Get the account's token: `OutboxMachine.received(_:for:at:)`.
  case getBearer(AccountName)
  /// Get a token in place of the one that an API rejects: `OutboxMachine.received(_:for:at:)`.
  case replaceBearer(APIRejection, AccountName)
  /// Begin the item in the store and send its request: `OutboxMachine.responded(_:for:isCancelled:at:)`, or
  /// `revoked(_:at:)`.
  case send(Delivery, of: Int64, Bearer)
  /// Wait until `OutboxMachine.takeResumed()` returns this sender.
  case wait
  /// There is nothing more to send.
  case end
}
