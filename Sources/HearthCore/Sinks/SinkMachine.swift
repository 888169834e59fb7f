/// What one sink's file has to hold, given what its session gives out: the token in use, or no file. One step on the file
/// is under way at a time.
package struct SinkMachine: Hashable, Sendable {
  /// What the session gives out.
  package enum Offer: Hashable, Sendable {
    case content(SinkContent)
    /// It is locked, has ended, or its token has run out.
    case nothing
    /// It does not know yet: its credential is being read.
    case undecided
  }

  package enum Input: Sendable {
    case given(Offer)
    /// The configuration was read, and names the sink: the file is made anew, whatever became of it.
    case configured(Offer)
    /// The configuration names it no more, or the daemon stops: the file has to go.
    case retired
    case put(Result<Void, SinkFailure>)
    case removed(Result<Void, SinkFailure>)
    case woke
  }

  package enum Action: Hashable, Sendable {
    /// Have the file hold this, and answer with `.put`.
    case put(SinkContent)
    /// Have no file there, and answer with `.removed`.
    case remove
    /// It fails for a reason that was not told yet.
    case report(SinkFailure)
    /// What was reported is over.
    case recovered
  }

  private enum Goal: Hashable {
    case undecided(until: Timestamp)
    case nothing
    case content(SinkContent)
  }

  private enum Held: Hashable {
    /// Another run of the daemon left it, or a step has failed halfway.
    case unknown
    case nothing
    case content(SinkContent.Mark)
  }

  private enum Step: Hashable {
    case putting(SinkContent.Mark)
    case removing
  }

  /// How long a file stays while its session does not know yet whether there is a token: as long as a call waits for it.
  private static let patience: Duration = .seconds(2)

  private var goal: Goal
  private var held = Held.unknown
  private var step: Step?
  /// The step under way began before the configuration was read.
  private var isStale = false
  private var putting = SinkRetry()
  private var removing = SinkRetry()
  package private(set) var isRetired = false

  package init(at now: Timestamp) { goal = .undecided(until: now + Self.patience) }

  /// No step is under way.
  package var isIdle: Bool { step == nil }

  /// It is to be forgotten: its file is gone, and none is wanted.
  package var isOver: Bool { isRetired && isIdle && held == .nothing }

  /// Why the file is not as it has to be; nil where it is, or will be at once.
  package var failure: SinkFailure? { removing.failure ?? putting.failure }

  /// The token that the file holds.
  package var fingerprint: Fingerprint? { if case .content(let mark) = held { mark.fingerprint } else { nil } }

  package mutating func handle(_ input: Input, at now: Timestamp) -> [Action] {
    var told: [Action] = []
    switch input {
    case .given(let offer): take(offer, at: now)
    case .configured(let offer):
      take(offer, at: now)
      isRetired = false
      held = .unknown
      isStale = step != nil
      putting.retryNow()
      removing.retryNow()
    case .retired:
      isRetired = true
      removing.retryNow()
    case .put(let result): told = ended(put: result, at: now)
    case .removed(let result): told = ended(removal: result, at: now)
    case .woke: break
    }
    return told + next(at: now)
  }

  private mutating func take(_ offer: Offer, at now: Timestamp) {
    switch offer {
    case .content(let content):
      if goal != .content(content) { putting.retryNow() }
      goal = .content(content)
    case .nothing: goal = .nothing
    case .undecided: if case .undecided = goal {} else { goal = .undecided(until: now + Self.patience) }
    }
  }

  private mutating func ended(put result: Result<Void, SinkFailure>, at now: Timestamp) -> [Action] {
    guard case .putting(let mark) = step else { return [] }
    step = nil
    switch result {
    case .success:
      held = isStale ? .unknown : .content(mark)
      let wasFailing = failure != nil
      (putting, removing) = (SinkRetry(), SinkRetry())
      return wasFailing ? [.recovered] : []
    case .failure(let failure):
      // It may still be carried out.
      if case .unanswered = failure { held = .unknown }
      return putting.failed(failure, at: now) ? [.report(failure)] : []
    }
  }

  private mutating func ended(removal result: Result<Void, SinkFailure>, at now: Timestamp) -> [Action] {
    guard step == .removing else { return [] }
    step = nil
    switch result {
    case .success:
      held = .nothing
      let wasFailing = removing.failure != nil
      removing = SinkRetry()
      // Where nothing is wanted, nothing is missing.
      if wanted(at: now) == .nothing { putting = SinkRetry() }
      return wasFailing ? [.recovered] : []
    case .failure(let failure): return removing.failed(failure, at: now) ? [.report(failure)] : []
    }
  }

  /// An expired token counts as none, and who does not know in time has none.
  private func wanted(at now: Timestamp) -> Goal {
    if isRetired { return .nothing }
    switch goal {
    case .undecided(let until): return until <= now ? .nothing : goal
    case .content(let content): return content.mark.isExpired(at: now) ? .nothing : goal
    case .nothing: return .nothing
    }
  }

  private mutating func next(at now: Timestamp) -> [Action] {
    guard step == nil else { return [] }
    switch wanted(at: now) {
    case .undecided: return []
    case .nothing: return held == .nothing ? [] : remove(at: now)
    case .content(let content):
      guard held != .content(content.mark) else { return [] }
      if putting.mayBegin(at: now) {
        (step, isStale) = (.putting(content.mark), false)
        return [.put(content)]
      }
      // What cannot be replaced is not left there expired.
      if case .content(let mark) = held, mark.isExpired(at: now) { return remove(at: now) }
      return []
    }
  }

  private mutating func remove(at now: Timestamp) -> [Action] {
    guard removing.mayBegin(at: now) else { return [] }
    step = .removing
    return [.remove]
  }

  /// When there may be something to do; nil: after the next input.
  package func nextWake(after now: Timestamp) -> Timestamp? {
    guard step == nil else { return nil }
    var times = [putting.retryAt, removing.retryAt]
    switch goal {
    case .undecided(let until): times.append(until)
    case .content(let content): times.append(content.mark.expiresAt)
    case .nothing: break
    }
    if case .content(let mark) = held { times.append(mark.expiresAt) }
    return times.compactMap(\.self).filter { $0 > now }.min()
  }

  /// The clock was set. The times of tokens are the session's, which gives them out anew.
  package mutating func move(by step: Duration) {
    if case .undecided(let until) = goal { goal = .undecided(until: until + step) }
    putting.move(by: step)
    removing.move(by: step)
  }
}
