/// The imports whose callers wait for an answer.
struct PendingImports {
  typealias Outcome = Result<Void, AdoptionFailure>

  private var callers: [Int: CheckedContinuation<Outcome, Never>] = [:]
  /// Those that the session has not been given yet: a sign-out or another sign-in supersedes them.
  private var undecided: Set<Int> = []
  private var count = 0

  mutating func add(_ caller: CheckedContinuation<Outcome, Never>) -> Int {
    count += 1
    callers[count] = caller
    undecided.insert(count)
    return count
  }

  /// The session is given the grant now, and answers the import.
  mutating func decide(_ id: Int) { undecided.remove(id) }

  mutating func finish(_ id: Int, _ outcome: Outcome) {
    undecided.remove(id)
    callers.removeValue(forKey: id)?.resume(returning: outcome)
  }

  mutating func supersede() {
    for id in undecided { callers.removeValue(forKey: id)?.resume(returning: .failure(.superseded)) }
    undecided = []
  }

  /// The session has stopped.
  mutating func stop() {
    for caller in callers.values { caller.resume(returning: .failure(.stopping)) }
    (callers, undecided) = ([:], [])
  }
}
