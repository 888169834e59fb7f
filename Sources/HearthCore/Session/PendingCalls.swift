/// The calls that wait for their answers. Each is answered once and then gone.
struct PendingCalls: Hashable, Sendable {
  private(set) var waiting: [WaitingCall] = []

  mutating func add(_ id: CallID, _ kind: WaitingCall.Kind, at now: Timestamp, outcome: WaitingCall.Outcome? = nil) {
    waiting.append(WaitingCall(id: id, kind: kind, askedAt: now, outcome: outcome))
  }

  /// A call waits for a refresh that has not ended yet.
  var wantRefresh: Bool {
    waiting.contains { call in
      switch call.kind {
      case .token, .refresh: call.outcome == nil
      case .apiRejection, .read, .signOut, .adoption: false
      }
    }
  }

  /// A call asks for a refresh outright: that shortens the wait after a failure.
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

  /// A sign-in that is being written is replaced by a sign-out or another sign-in, and its caller is answered so.
  mutating func supersedeAdoptions() -> [SessionAction] {
    let superseded = waiting.filter { $0.kind == .adoption }
    waiting.removeAll { $0.kind == .adoption }
    return superseded.map { .answer($0.id, .rejected(.superseded)) }
  }

  /// Answers all who sign out. `answer` is given the newest grant that was in memory when the call came.
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
    /// An API has rejected the token of this fingerprint.
    case apiRejection(Fingerprint)
    case read
    /// With the newest grant in memory, where there was one.
    case signOut(Credential?, revoke: Bool)
    case adoption
  }

  let id: CallID
  let kind: Kind
  fileprivate(set) var askedAt: Timestamp
  var outcome: Outcome?
}
