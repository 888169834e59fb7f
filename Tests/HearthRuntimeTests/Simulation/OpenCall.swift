import HearthCore

/// A call of a client that was not answered yet.
struct OpenCall {
  enum Kind {
    case other
    case enqueue(trackedRequests: [Int], replaceKeys: Set<Name>)
    case cancel(id: String)
    case retry(id: String)
    case changeAll(AccountName, OutboxItem.State, OutboxChange)
    case discard(AccountName)
    case pause(AccountName?, Bool)
    case flush
  }

  let kind: Kind
  let askedAt: Duration
  /// How much time had been skipped by then.
  let looseness: Duration

  var isPause: Bool { if case .pause = kind { true } else { false } }

  func handsIn(_ trackedRequest: TrackedRequest) -> Bool {
    if case .enqueue(let trackedRequests, _) = kind { trackedRequests.contains(trackedRequest.number) } else { false }
  }

  func replaces(_ key: Name) -> Bool {
    if case .enqueue(_, let keys) = kind { keys.contains(key) } else { false }
  }

  func takesBack(_ item: OutboxItem) -> Bool {
    switch kind {
    case .cancel(let id): id == item.id
    case .changeAll(let account, _, .cancel), .discard(let account): account == item.account
    case .other, .enqueue, .retry, .changeAll, .pause, .flush: false
    }
  }

  func putsBack(_ item: OutboxItem) -> Bool {
    switch kind {
    case .retry(let id): id == item.id
    case .changeAll(let account, _, .retry): account == item.account
    case .other, .enqueue, .cancel, .changeAll, .discard, .pause, .flush: false
    }
  }
}
