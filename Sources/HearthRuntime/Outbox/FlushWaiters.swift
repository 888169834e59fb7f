internal import HearthCore

/// The pending calls to `flush`, which wait until nothing is left to send.
struct FlushWaiters {
  private var waiters: [Int: (accounts: Set<AccountName>, continuation: CheckedContinuation<Void, Never>)] = [:]
  private var lastNumber = 0

  mutating func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  mutating func add(_ number: Int, for accounts: Set<AccountName>, _ continuation: CheckedContinuation<Void, Never>) {
    waiters[number] = (accounts, continuation)
  }

  mutating func end(_ number: Int) {
    waiters.removeValue(forKey: number)?.continuation.resume()
  }

  /// Ends the calls whose accounts are all idle.
  mutating func end(where isIdle: (AccountName) -> Bool) {
    for (number, waiter) in waiters where waiter.accounts.allSatisfy(isIdle) { end(number) }
  }

  mutating func endAll() {
    for number in waiters.keys { end(number) }
  }
}
