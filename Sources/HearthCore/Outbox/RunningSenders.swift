/// The IDs of the running senders, with their accounts, and of the waiting senders that may continue now.
struct RunningSenders {
  private var accounts: [SenderID: AccountName] = [:]
  private var last = 0
  private var resumed: [SenderID] = []

  var isEmpty: Bool { accounts.isEmpty }

  subscript(id: SenderID) -> AccountName? { accounts[id] }

  mutating func start(for name: AccountName) -> SenderID {
    last += 1
    accounts[last] = name
    return last
  }

  mutating func end(_ id: SenderID) { accounts[id] = nil }

  mutating func resume(_ id: SenderID) { resumed.append(id) }

  mutating func takeResumed() -> [SenderID] {
    defer { resumed = [] }
    return resumed
  }
}
