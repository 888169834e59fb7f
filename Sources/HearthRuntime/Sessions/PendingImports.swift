/// The imports in progress. The caller of one is answered when it ends, or earlier if it is superseded.
struct PendingImports {
  typealias Outcome = Result<Void, AdoptionFailure>

  private struct Import {
    var caller: CheckedContinuation<Outcome, Never>?
    /// Whether a sign-out or another sign-in still takes precedence, because the session has not received the grant
    /// yet.
    var isUndecided = true
  }

  private var underWay: [Int: Import] = [:]
  private var count = 0

  var isEmpty: Bool { underWay.isEmpty }

  mutating func begin(_ caller: CheckedContinuation<Outcome, Never>) -> Int {
    count += 1
    underWay[count] = Import(caller: caller)
    return count
  }

  /// Notes that the session receives the grant now and answers the import.
  mutating func decide(_ id: Int) { underWay[id]?.isUndecided = false }

  mutating func end(_ id: Int, _ outcome: Outcome) {
    underWay.removeValue(forKey: id)?.caller?.resume(returning: outcome)
  }

  mutating func supersede() {
    for id in underWay.filter(\.value.isUndecided).keys { answer(id, .superseded) }
  }

  /// Ends all imports when the session has stopped.
  mutating func stop() {
    for id in underWay.keys { answer(id, .stopping) }
  }

  private mutating func answer(_ id: Int, _ failure: AdoptionFailure) {
    underWay[id]?.caller?.resume(returning: .failure(failure))
    underWay[id]?.caller = nil
  }
}
