import HearthCore

/// An API, and what is between it and Hearth.
struct SimulatedOrigin {
  enum Mood: CaseIterable {
    case fine
    /// Gives any answer.
    case flaky
    /// Loses requests and answers.
    case lossy
    /// Does not answer before the time limit.
    case hung
    case down
    /// Answers 401 to every token.
    case refusing
    case portal
    /// A gateway before it answers some requests with a page.
    case mixed
    /// Answers 429 with Retry-After.
    case limited
  }

  let origin: Origin
  var mood = Mood.fine
  /// Whether it sends `Date`.
  var tellsTime = true
  /// How far its clock is wrong, in milliseconds.
  var clockError = 0
  /// Whether it breaks off when only its head is requested.
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
  /// Whether the clock was set meanwhile, so that the machine ignores the response's time.
  var isTimeDoubtful = false
}
