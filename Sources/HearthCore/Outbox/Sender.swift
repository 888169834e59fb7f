/// A claim whose deliveries are being sent, one after the other.
struct Sender {
  enum Step: Hashable {
    /// The next delivery can start.
    case between
    case unauthorized
    /// The request is ready to be sent with this token.
    case authorized(Bearer)
    case sending(Bearer, since: Timestamp)
    /// The API returned a 401. The session may already have a newer token.
    case rejected(Bearer, APIResponse, isSecond: Bool)
    /// The API also returned a 401 for a replacement token. The responses to other items will show whether the item or
    /// the session is the cause.
    case judging(Bearer, APIResponse, isSecond: Bool)
    /// The session has to replace this token after a 401.
    case renewing(Bearer, APIResponse)
  }

  let kind: OutboxKinds
  let origin: Origin?
  var epoch: Int64
  /// The deliveries to send after `current`.
  var rest: ArraySlice<Delivery>
  var current: Delivery?
  var step = Step.between
  /// The number of requests for `current`, and whether one of them got a 401.
  var requests = 0
  var wasRejected = false
  /// Whether one of the requests for `current` may have been sent.
  var hasLeft = false
  /// Whether the clock was set during the last request. If so, the time in the response is unreliable.
  var isTimeDoubtful = false
  /// Whether the user has signed out since the claim. If users have no names, only this flag shows that a new token
  /// belongs to the next user.
  var hasUserLeft = false
  var begunAt: Timestamp?

  init(_ claim: LaneClaim, _ kind: OutboxKinds) {
    self.kind = kind
    origin = claim.origin
    epoch = claim.epoch
    rest = claim.deliveries[...]
  }

  /// The claimed deliveries that are not settled yet.
  var underWay: [Delivery] { (current.map { [$0] } ?? []) + rest }

  var isJudging: Bool { if case .judging = step { true } else { false } }

  /// Returns whether the current delivery has taken so long that it counts as slow.
  func isSlow(at now: Timestamp) -> Bool { slowAt.map { $0 <= now } ?? false }

  /// The time at which the sender starts to count as slow, or `nil` if it has no delivery. Time spent waiting for a
  /// token is included.
  var slowAt: Timestamp? { current == nil ? nil : begunAt.map { $0 + Self.slow } }

  private static let slow = Duration.seconds(1)

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

package typealias SenderID = Int

/// The next step of a sender, and the `OutboxMachine` method that receives the result.
package enum SenderStep: Hashable, Sendable {
  /// Get the account's token, then call `received(_:for:at:)`.
  case getBearer(AccountName)
  /// Get a replacement for a rejected token, then call `received(_:for:at:)`.
  case replaceBearer(APIRejection, AccountName)
  /// Call `OutboxStore.begin`. If it returns true, send the request and call `responded(_:for:isCancelled:at:)`.
  /// Otherwise, call `revoked(_:at:)`.
  case send(Delivery, of: Int64, Bearer)
  /// Wait until `takeResumed()` returns this sender.
  case wait
  case end
}
