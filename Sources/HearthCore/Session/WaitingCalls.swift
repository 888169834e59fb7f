/// A call that is waiting for a response. It gets one response and is then removed.
struct WaitingCall: Hashable, Sendable {
  enum Outcome: Hashable, Sendable {
    case succeeded
    case failed(message: String, retryAfter: Duration?)
  }

  enum Kind: Hashable, Sendable {
    case token(minValidity: Duration?)
    case refresh
    case apiRejection(Fingerprint)
    case read
    /// A sign-out, with the newest grant in memory at the time of the call.
    case signOut(Credential?, revoke: Bool)
    /// An import or a sign-in that waits for disk space to be reserved for its grant.
    case room
    /// An import or a sign-in whose grant is being written.
    case adoption
  }

  let id: CallID
  let kind: Kind
  fileprivate(set) var askedAt: Timestamp
  var outcome: Outcome?
}

/// The calls that wait, in the order of their arrival.
struct WaitingCalls: Hashable, Sendable {
  private(set) var all: [WaitingCall] = []

  mutating func add(_ id: CallID, _ kind: WaitingCall.Kind, at now: Timestamp, outcome: WaitingCall.Outcome? = nil) {
    all.append(WaitingCall(id: id, kind: kind, askedAt: now, outcome: outcome))
  }

  /// Whether a call is waiting for a refresh that has not finished yet.
  var wantRefresh: Bool {
    all.contains { call in
      switch call.kind {
      case .token, .refresh: call.outcome == nil
      case .apiRejection, .read, .signOut, .room, .adoption: false
      }
    }
  }

  func isMakingRoom(for id: CallID) -> Bool { all.contains { $0.id == id && $0.kind == .room } }

  /// Whether a sign-out is waiting to be saved.
  var awaitSignOut: Bool { all.contains { if case .signOut = $0.kind { true } else { false } } }

  /// Whether a call explicitly asks for a refresh. If so, the wait after a failure is shorter.
  var demandRefresh: Bool { all.contains { $0.kind == .refresh && $0.outcome == nil } }

  mutating func finishRefreshes(_ outcome: WaitingCall.Outcome) {
    for index in all.indices where all[index].outcome == nil {
      switch all[index].kind {
      case .token, .refresh, .apiRejection: all[index].outcome = outcome
      case .read, .signOut, .room, .adoption: break
      }
    }
  }

  mutating func finish(_ kind: WaitingCall.Kind) {
    for index in all.indices where all[index].kind == kind { all[index].outcome = .succeeded }
  }

  /// Removes and rejects the sign-ins and imports whose grants are being written, because a newer grant or a sign-out
  /// replaces them.
  mutating func supersedeAdoptions(of account: AccountName) -> [SessionAction] {
    let superseded = all.filter { $0.kind == .adoption }
    all.removeAll { $0.kind == .adoption }
    return superseded.map { .answer($0.id, .rejected(.superseded(account))) }
  }

  /// Responds to all sign-outs. `answer` receives the newest grant that was in memory when the user signed out, and
  /// whether to revoke it.
  mutating func answerSignOuts(
    _ answer: (_ newest: Credential?, _ revoke: Bool) -> (SessionResponse, before: [SessionAction])
  ) -> [SessionAction] {
    var actions: [SessionAction] = []
    all.removeAll { call in
      guard case .signOut(let newest, let revoke) = call.kind else { return false }
      let (response, before) = answer(newest, revoke)
      actions += before + [.answer(call.id, response)]
      return true
    }
    return actions
  }

  mutating func remove(_ answered: [CallID]) { all.removeAll { answered.contains($0.id) } }

  mutating func move(by step: Duration) {
    for index in all.indices { all[index].askedAt = all[index].askedAt + step }
  }
}
