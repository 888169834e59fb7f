/// Decides what a sink's file contains, depending on what the session offers. Only one operation on the file runs at a
/// time.
package struct SinkMachine: Hashable, Sendable {
  /// What the session offers to the sink.
  package enum Offer: Hashable, Sendable {
    case content(SinkContent)
    /// There is no token to write, for example because the session is locked or has ended.
    case nothing
    /// The session is still reading its credential.
    case undecided
  }

  package enum Input: Sendable {
    case given(Offer)
    /// The configuration was loaded and contains the sink. The file is written or removed again, even if that was
    /// already done.
    case configured(Offer)
    /// The configuration no longer contains the sink, or the daemon is stopping. The file is removed.
    case retired
    case put(Result<Void, SinkFailure>)
    case removed(Result<Void, SinkFailure>)
    case woke
  }

  package enum Action: Hashable, Sendable {
    /// Write this content to the file, then send `.put`.
    case put(SinkContent)
    /// Remove the file, then send `.removed`.
    case remove
    /// Report a failure that differs from the last reported one.
    case report(SinkFailure)
    case recovered
  }

  private enum Held: Hashable {
    /// The file is from an earlier run of the daemon, or the result of an operation on it is unknown.
    case unknown
    case nothing
    case content(SinkContent.Mark)
  }

  /// How long the file stays while the session is still reading its credential. Calls that need a token also wait this
  /// long.
  private static let timeout: Duration = .seconds(2)

  private var offer = Offer.undecided
  /// The time until which the file stays if the session is undecided.
  private var undecidedUntil: Timestamp
  private var held = Held.unknown
  /// The result of the current operation on the file if it succeeds, or `nil` if no operation is running.
  private var step: Held?
  /// Whether the current operation began before the configuration was last loaded.
  private var isStale = false
  private var putting = SinkRetry()
  private var removing = SinkRetry()
  package private(set) var isRetired = false

  package init(at now: Timestamp) { undecidedUntil = now + Self.timeout }

  package var isIdle: Bool { step == nil }

  /// Whether the machine can be discarded, because the file is gone and no longer wanted.
  package var isOver: Bool { isRetired && isIdle && held == .nothing }

  /// The reason why the file does not have the right content. `nil` if the content is right or soon will be.
  package var failure: SinkFailure? { removing.failure ?? putting.failure }

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

  private mutating func take(_ new: Offer, at now: Timestamp) {
    guard new != offer else { return }
    offer = new
    switch new {
    case .content: putting.retryNow()
    case .nothing: break
    case .undecided: undecidedUntil = now + Self.timeout
    }
  }

  private mutating func ended(put result: Result<Void, SinkFailure>, at now: Timestamp) -> [Action] {
    guard case .content(let mark) = step else { return [] }
    step = nil
    switch result {
    case .success:
      held = isStale ? .unknown : .content(mark)
      let wasFailing = failure != nil
      (putting, removing) = (SinkRetry(), SinkRetry())
      return wasFailing ? [.recovered] : []
    case .failure(let failure):
      // The operation may still complete, so the content is unknown.
      if case .unanswered = failure { held = .unknown }
      return putting.failed(failure, at: now) ? [.report(failure)] : []
    }
  }

  private mutating func ended(removal result: Result<Void, SinkFailure>, at now: Timestamp) -> [Action] {
    guard step == .nothing else { return [] }
    step = nil
    switch result {
    case .success:
      held = .nothing
      let wasFailing = removing.failure != nil
      removing = SinkRetry()
      // If no file is wanted, an earlier failure to write it no longer matters.
      if wanted(at: now) == .nothing { putting = SinkRetry() }
      return wasFailing ? [.recovered] : []
    case .failure(let failure): return removing.failed(failure, at: now) ? [.report(failure)] : []
    }
  }

  /// Returns what the file should contain. No file is wanted if the token has expired or the session takes too long to
  /// read its credential.
  private func wanted(at now: Timestamp) -> Offer {
    if isRetired { return .nothing }
    switch offer {
    case .undecided: return undecidedUntil <= now ? .nothing : offer
    case .content(let content): return content.mark.isExpired(at: now) ? .nothing : offer
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
        (step, isStale) = (.content(content.mark), false)
        return [.put(content)]
      }
      // Remove an expired token that cannot be replaced yet.
      if case .content(let mark) = held, mark.isExpired(at: now) { return remove(at: now) }
      return []
    }
  }

  private mutating func remove(at now: Timestamp) -> [Action] {
    guard removing.mayBegin(at: now) else { return [] }
    step = .nothing
    return [.remove]
  }

  /// Returns the next time at which there is something to do, or `nil` if nothing happens without another input.
  package func nextWake(after now: Timestamp) -> Timestamp? {
    guard step == nil else { return nil }
    var times = [putting.retryAt, removing.retryAt]
    switch offer {
    case .undecided: times.append(undecidedUntil)
    case .content(let content): times.append(content.mark.expiresAt)
    case .nothing: break
    }
    if case .content(let mark) = held { times.append(mark.expiresAt) }
    return times.compactMap(\.self).filter { $0 > now }.min()
  }

  /// Shifts all deadlines after the clock was set. The session itself offers its token again, with new times.
  package mutating func move(by step: Duration) {
    undecidedUntil = undecidedUntil + step
    putting.move(by: step)
    removing.move(by: step)
  }
}

/// The data for a sink's file.
package struct SinkContent: Hashable, Sendable {
  package let bearer: Bearer

  package init(_ bearer: Bearer) { self.bearer = bearer }

  /// Identifies the content without storing a secret.
  struct Mark: Hashable, Sendable {
    let fingerprint: Fingerprint
    let expiresAt: Timestamp?
    let subject: Subject?
    let issuer: String?

    func isExpired(at now: Timestamp) -> Bool { expiresAt.map { $0 <= now } ?? false }
  }

  var mark: Mark {
    Mark(
      fingerprint: bearer.token.fingerprint, expiresAt: bearer.expiresAt, subject: bearer.subject, issuer: bearer.issuer
    )
  }
}

/// Decides when to retry a failed operation on a sink's file.
struct SinkRetry: Hashable, Sendable {
  private static let policy = RetryPolicy(initial: .seconds(1), max: .seconds(60))

  private(set) var failure: SinkFailure?
  private(set) var retryAt: Timestamp?
  private var failures = 0

  /// Records a failure, and returns whether it differs from the previous one.
  mutating func failed(_ failure: SinkFailure, at now: Timestamp) -> Bool {
    defer { self.failure = failure }
    failures += 1
    retryAt = now + Self.policy.wait(failures: failures, random: 1)
    return failure != self.failure
  }

  mutating func retryNow() { retryAt = nil }

  func mayBegin(at now: Timestamp) -> Bool { retryAt.map { $0 <= now } ?? true }

  mutating func move(by step: Duration) { retryAt = retryAt.map { $0 + step } }
}
