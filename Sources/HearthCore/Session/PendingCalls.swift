/// The calls that wait for their answers. Each is answered once and then removed.
struct PendingCalls: Hashable, Sendable {
  private(set) var waiting: [WaitingCall] = []

  mutating func add(_ id: CallID, _ kind: WaitingCall.Kind, at now: Timestamp, outcome: WaitingCall.Outcome? = nil) {
    waiting.append(WaitingCall(id: id, kind: kind, askedAt: now, outcome: outcome))
  }

  /// Whether a call waits for a refresh that has not ended yet.
  var wantRefresh: Bool {
    waiting.contains { call in
      switch call.kind {
      case .token, .refresh: call.outcome == nil
      case .apiRejection, .read, .signOut, .adoption: false
      }
    }
  }

  /// Whether a sign-out waits until it is on record.
  var awaitSignOut: Bool { waiting.contains { if case .signOut = $0.kind { true } else { false } } }

  /// Whether a call explicitly asks for a refresh, which shortens the wait after a failure.
  var demandRefresh: Bool { waiting.contains { $0.kind == .refresh && $0.outcome == nil } }

  mutating func finishRefreshes(_ outcome: WaitingCall.Outcome) {
    for index in waiting.indices where waiting[index].outcome == nil {
      switch waiting[index].kind {
      case .token, .refresh, .apiRejection: waiting[index].outcome = outcome
      case .read, .signOut, .adoption: break
      }
    }
  }

  mutating func finish(_ kind: WaitingCall.Kind) {
    for index in waiting.indices where waiting[index].kind == kind { waiting[index].outcome = .succeeded }
  }

  /// Called when a sign-out or another sign-in replaces a sign-in that is being written. Returns the answers for
  /// the callers of replaced sign-ins.
  mutating func supersedeAdoptions() -> [SessionAction] {
    let superseded = waiting.filter { $0.kind == .adoption }
    waiting.removeAll { $0.kind == .adoption }
    return superseded.map { .answer($0.id, .rejected(.superseded)) }
  }

  /// Answers all sign-outs. `answer` receives the newest grant that was in memory when the call came.
  mutating func answerSignOuts(
    _ answer: (_ newest: Credential?, _ revoke: Bool) -> (SessionResponse, before: [SessionAction])
  ) -> [SessionAction] {
    var actions: [SessionAction] = []
    waiting.removeAll { call in
      guard case .signOut(let newest, let revoke) = call.kind else { return false }
      let (response, before) = answer(newest, revoke)
      actions += before + [.answer(call.id, response)]
      return true
    }
    return actions
  }

  mutating func remove(_ answered: [CallID]) { waiting.removeAll { answered.contains($0.id) } }

  mutating func move(by step: Duration) {
    for index in waiting.indices { waiting[index].askedAt = waiting[index].askedAt + step }
  }
}

struct WaitingCall: Hashable, Sendable {
  enum Outcome: Hashable, Sendable {
    case succeeded
    case failed(message: String, retryAfter: Duration?)
  }

  enum Kind: Hashable, Sendable {
    case token(minValidity: Duration?)
    case refresh
    /// An API has rejected the token with this fingerprint.
    case apiRejection(Fingerprint)
    case read
    /// A sign-out, with the newest grant that was in memory, if any.
    case signOut(Credential?, revoke: Bool)
    case adoption
  }

  let id: CallID
  let kind: Kind
  fileprivate(set) var askedAt: Timestamp
  var outcome: Outcome?
}
