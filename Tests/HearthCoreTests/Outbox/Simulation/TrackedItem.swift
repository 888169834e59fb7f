import HearthCore

/// An item as the simulation knows it, whatever machine and model believe of it. Times are milliseconds that have passed.
final class TrackedItem {
  /// How a request ended.
  enum Answer: Hashable {
    case status(Int)
    /// A success with HTML where JSON is asked for.
    case page
    /// It asks for more than a fresh token.
    case challenged(Int)
    case unanswered, notSent
  }

  let number: Int64
  /// Whose item it is; nil as long as nobody has been known.
  var user: Name?
  /// The API answers 401 to this item, whatever the token.
  var isUnwelcome = false
  /// A gateway answers 511 to this item.
  var isBarred = false

  /// The request that is under way.
  var flight: SenderID?
  /// How the last request ended; nil where that is written down, or its daemon has ended.
  var answer: Answer?
  /// Whether the server has said with it how long to wait.
  var isToldToWait = false
  /// What the configuration says of that status.
  var override: DeliveryOverrides.Outcome?
  /// The token that the last request had.
  var token: Fingerprint?
  /// How many answers are to be charged to the item.
  var charged = 0
  var conflicts = 0
  /// When it was claimed last, when the last request was sent, and when the first was that may have been acted on.
  var claimedAt = 0
  /// When the machine got its claim, as a tick.
  var heldAt = 0
  var sentAt = 0
  var unknownSince: Int?
  /// Whether the last answer came before the session had reported the token that was sent.
  var isTokenUnreported = false
  /// When it was put back to be sent under whoever is signed in.
  var nobodysSince: Int?
  /// It was held for review, and nobody has had it sent again.
  var isUnderReview = false
  /// A call that ended the item was carried out.
  var isForbidden = false
  /// It is not to be sent again before.
  var floor = 0
  /// It goes on as it was, and not anew.
  var isHeldInPlace = false
  /// It is to be due by then.
  var latestDue = Int.max
  /// Since when nothing keeps it from being sent.
  var readySince: Int?

  init(_ number: Int64, user: Name?) {
    self.number = number
    self.user = user
  }

  /// The daemon has ended. `mayHaveLeft`: its request may have been on its way.
  func crashed(mayHaveLeft: Bool) {
    // Of an answer that is not written down only the claim is known.
    let isUnwritten = answer != nil && unknownSince == sentAt
    if mayHaveLeft { unknownSince = isUnwritten ? claimedAt : unknownSince ?? claimedAt }
    // What is not written down is lost, and so is the wait that a server has asked for.
    if answer != nil { floor = 0 }
    (flight, answer, readySince) = (nil, nil, nil)
  }

  /// A person wants it sent again.
  func retried() {
    (charged, conflicts, unknownSince, isUnderReview, floor, latestDue) = (0, 0, nil, false, 0, .max)
  }

  /// It has left its lane, though that may not be written down yet.
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
