import HearthCore

/// A request that a client handed in, and what the world knows of it. Its path names it.
final class TrackedRequest: @unchecked Sendable {
  let number: Int
  let draft: OutboxDraft
  /// Of the items that it became: one, or one for each user under whom it was handed in.
  var ids: Set<String> = []
  /// The items whose acceptance was answered.
  var acknowledged: Set<String> = []
  /// Calls that hand it in and were not answered, or never will be: an item may come of them.
  var open = 0
  var lost = 0
  /// The subjects that it was sent under.
  var sentUnder: Set<Subject> = []
  /// On the wire now, as far as this daemon knows.
  var flights: Set<Int> = []
  /// Answers that are charged, since it was last put back.
  var charged = 0
  var conflicts = 0
  var refusals = 0
  /// This daemon heard an answer that ends it.
  var isAnswered = false
  /// The last that was heard of it was a 401.
  var isRefused = false
  var isDelivered = false
  var statuses: Set<Int> = []
  /// The earliest time at which it may be sent again, because a server said so.
  var floor = Duration.zero
  /// When the server said so.
  var floorSetAt = Duration.zero
  /// Sent, and no answer: since then, and at the earliest since.
  var unknownSince: Duration?
  var mayBeDoneSince: Duration?
  /// What the API did for it, and under which keys.
  var effects = 0
  var keysDone: Set<String> = []
  var wasPutBack = false
  /// The first request of this daemon whose outcome is not seen in the outbox yet.
  var sentSince: Duration?
  /// When it was last taken from the outbox.
  var takenAt: Duration?

  init(_ number: Int, _ draft: OutboxDraft) {
    self.number = number
    self.draft = draft
  }

  var isRepeatable: Bool { ["PUT", "DELETE", "GET"].contains(draft.method) }
  /// More items than are known may have come of it.
  var isTaken: Bool { open > 0 || lost > 0 || ids.count > 1 }

  /// A person asked for it to be sent once more.
  func isPutBack() {
    wasPutBack = true
    (charged, conflicts, refusals) = (0, 0, 0)
    (isAnswered, isDelivered, isRefused) = (false, false, false)
    statuses = []
    floor = .zero
    (unknownSince, mayBeDoneSince) = (nil, nil)
  }

  /// An answer, or that there was none; 401 and what stands before the API are not charged.
  func received(
    _ status: Int?, _ retryAfter: Duration?, isPage: Bool = false, sentAt: Duration, at elapsed: Duration,
    _ settings: OutboxSettings
  ) {
    isRefused = status == 401
    if let status { statuses.insert(status) }
    if let retryAfter {
      floor = elapsed + Swift.min(retryAfter, .seconds(86_400))
      floorSetAt = elapsed
    }
    switch status {
    case 407, 511: return
    case 401: refusals += 1
    case nil, 502, 504,
      .some where isPage:
      isUnknown(since: sentAt)
      charged += 1
    case 408, 423, 425, 429, 500, 503: charged += 1
    case 403 where retryAfter != nil, 409 where retryAfter != nil, 413 where retryAfter != nil: charged += 1
    case 409:
      conflicts += 1
      charged += 1
      isAnswered = conflicts > 5
    case .some(let status):
      charged += 1
      isAnswered = true
      if (200...299).contains(status) { isDelivered = true }
    }
    if charged >= settings.maxAttempts { isAnswered = true }
  }

  func isGivenUp(_ flight: Int, sentAt: Duration) {
    flights.remove(flight)
    isUnknown(since: sentAt)
  }

  private func isUnknown(since sentAt: Duration) {
    unknownSince = unknownSince ?? sentAt
    mayBeDoneSince = mayBeDoneSince ?? sentAt
  }

  /// It was taken to be sent when its daemon went: nobody knows how far it came.
  func wasTaken(at elapsed: Duration) { mayBeDoneSince = Swift.min(mayBeDoneSince ?? elapsed, elapsed) }

  /// What was under way may have been done; what was heard and not written down, of which `attempts` tell, is forgotten.
  func daemonIsGone(attempts: Int?) {
    if let attempts {
      if attempts < charged { floor = .zero }
      (charged, conflicts) = (attempts, Swift.min(conflicts, attempts))
    }
    // Where its request may have left, its fate is unknown, whatever was heard of it.
    if let sentSince { wasTaken(at: sentSince) }
    sentSince = nil
    flights = []
    isAnswered = false
    lost += open
    open = 0
  }
}
