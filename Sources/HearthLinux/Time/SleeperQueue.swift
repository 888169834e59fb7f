/// Actions to run later, sorted by deadline.
struct SleeperQueue {
  struct Ticket: Comparable {
    /// The deadline on CLOCK_BOOTTIME, in nanoseconds.
    let deadline: Int64
    let number: UInt64

    static func < (lhs: Ticket, rhs: Ticket) -> Bool {
      (lhs.deadline, lhs.number) < (rhs.deadline, rhs.number)
    }
  }

  typealias Action = @Sendable () -> Void

  /// Sorted with the latest first, so that the earliest can be removed from the end.
  private var sleepers: [(ticket: Ticket, action: Action)] = []

  var earliest: Int64? { sleepers.last?.ticket.deadline }

  mutating func insert(_ action: @escaping Action, _ ticket: Ticket) {
    sleepers.insert((ticket, action), at: position(of: ticket))
  }

  mutating func remove(_ ticket: Ticket) -> Action? {
    let position = position(of: ticket)
    guard position < sleepers.count, sleepers[position].ticket == ticket else { return nil }
    return sleepers.remove(at: position).action
  }

  /// Removes the actions whose deadlines have passed and returns them, earliest first.
  mutating func removeDue(at boot: Int64) -> [Action] {
    var due: [Action] = []
    while let last = sleepers.last, last.ticket.deadline <= boot {
      due.append(last.action)
      sleepers.removeLast()
    }
    return due
  }

  mutating func removeAll() -> [Action] { removeDue(at: .max) }

  /// Returns the index of `ticket`, or the index at which to insert it.
  private func position(of ticket: Ticket) -> Int {
    var (low, high) = (0, sleepers.count)
    while low < high {
      let middle = (low + high) / 2
      if sleepers[middle].ticket > ticket { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
