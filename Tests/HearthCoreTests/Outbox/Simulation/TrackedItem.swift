import HearthCore

/// An item as the simulation knows it, whatever the machine and the model assume. Times are milliseconds that have
/// passed.
final class TrackedItem {
  /// How a request ended.
  enum Answer: Hashable {
    case status(Int)
    /// A success with HTML although JSON was expected.
    case page
    /// It asks for more than a fresh token.
    case challenged(Int)
    case unanswered, notSent
  }

  let number: Int64
  /// The user who owns the item, or `nil` while no user has been known.
  var user: Name?
  /// Whether the API answers 401 to this item, whatever the token.
  var isUnwelcome = false
  /// Whether a gateway answers 511 to this item.
  var isBarred = false

  /// The request that is under way.
  var flight: SenderID?
  /// How the last request ended, or `nil` if that is written, or its daemon has ended.
  var answer: Answer?
  /// Whether the server said how long to wait.
  var isToldToWait = false
  /// What the configuration says about that status.
  var override: DeliveryOverrides.Outcome?
  /// The token that the last request had.
  var token: Fingerprint?
  /// How many answers count as attempts.
  var charged = 0
  var conflicts = 0
  /// When it was last claimed, when the last request was sent, and when the first request was sent that the API may
  /// have acted on.
  var claimedAt = 0
  /// The tick at which the machine got its claim.
  var heldAt = 0
  var sentAt = 0
  var unknownSince: Int?
  /// Whether the last answer came before the session had reported the token that was sent.
  var isTokenUnreported = false
  /// When its user was removed, so that it becomes the next user's.
  var nobodysSince: Int?
  /// Whether it was held for review and not retried since.
  var isUnderReview = false
  /// Whether a call has ended the item.
  var isForbidden = false
  /// It must not be sent again before this time.
  var floor = 0
  /// Whether it is held in its place, so that it continues unchanged.
  var isHeldInPlace = false
  /// It must be due by this time.
  var latestDue = Int.max
  /// Since when it could be sent.
  var readySince: Int?

  init(_ number: Int64, user: Name?) {
    self.number = number
    self.user = user
  }

  /// Called when the daemon has ended. `mayHaveLeft` is true if its request may have been under way.
  func crashed(mayHaveLeft: Bool) {
    // If an answer is not written, only the claim is known.
    let isUnwritten = answer != nil && unknownSince == sentAt
    if mayHaveLeft { unknownSince = isUnwritten ? claimedAt : unknownSince ?? claimedAt }
    // An unwritten answer is lost, and so is the wait that the server asked for.
    if answer != nil { floor = 0 }
    (flight, answer, readySince) = (nil, nil, nil)
  }

  /// Called when a person retries it.
  func retried() {
    (charged, conflicts, unknownSince, isUnderReview, floor, latestDue) = (0, 0, nil, false, 0, .max)
  }

  /// Whether it has left its lane, even if that may not be written yet.
  func hasEnded(within settings: OutboxSettings) -> Bool {
    if answer == .page { return charged + 1 >= settings.maxAttempts }
    guard case .status(let status)? = answer else { return false }
    switch override {
    case .delivered, .dead: return true
    case .retry: return charged + 1 >= settings.maxAttempts
    case nil: break
    }
    switch status {
    case 200...399: return true
    case 401, 407, 511: return false
    case 408, 423, 425, 429: return charged + 1 >= settings.maxAttempts
    case 403 where isToldToWait, 409 where isToldToWait, 413 where isToldToWait:
      return charged + 1 >= settings.maxAttempts
    case 409: return conflicts >= 5 || charged + 1 >= settings.maxAttempts
    case 400...499, 501, 505: return true
    default: return charged + 1 >= settings.maxAttempts
    }
  }
}
