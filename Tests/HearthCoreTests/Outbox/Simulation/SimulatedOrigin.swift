import HearthCore

/// An API, and what stands between.
struct SimulatedOrigin {
  enum Mood: CaseIterable {
    case fine
    /// Answers anything.
    case flaky
    /// Loses requests and answers.
    case lossy
    /// Answers to nothing until the time limit.
    case hung
    case down
    /// Answers 401 to every token.
    case refusing
    case portal
    /// A gateway before it answers one request or the other with a page.
    case mixed
    /// Answers 429 with Retry-After.
    case limited
  }

  let origin: Origin
  var mood = Mood.fine
  /// Whether it sends `Date`.
  var tellsTime = true
  /// What its clock is wrong by, in milliseconds.
  var clockError = 0
  /// Whether it breaks off where it is asked for nothing but its head.
  var refusesHEAD = false
}

/// A request on its way.
struct SimulatedFlight {
  let item: TrackedItem
  let account: AccountName
  let origin: Origin
  let token: Fingerprint
  let isUnordered: Bool
  var result: Result<APIResponse, ExchangeFailure>
  let answer: TrackedItem.Answer
  /// The clock was set meanwhile: the machine does not believe what the response tells of the time.
  var isTimeDoubtful = false
}
