import HearthControl
import Synchronization

/// Limits the number of unread bytes across all connections. If the total exceeds the limit, the connection with the
/// most unread bytes must be closed, so that clients that do not read cannot use up the memory.
final class OutputBudget: Sendable {
  private struct State {
    var limit: Int
    var total = 0
    var shares: [ConnectionID: Int] = [:]
    /// Connections that must be closed. They no longer count towards the total.
    var exceeding: Set<ConnectionID> = []
    /// The largest total since the last call to `drained`.
    var peak = 0

    /// Returns true once after a large peak has subsided.
    mutating func takePeak() -> Bool {
      guard peak >= OutputBudget.largePeak, total < peak / 4 else { return false }
      peak = total
      return true
    }
  }

  /// The size of a large peak, in bytes. After a smaller peak, the freed memory stays with the process for reuse.
  static let largePeak = 16 << 20

  private let state: Mutex<State>
  private let drained: @Sendable () -> Void

  /// `drained` is called when most of a large peak has been read or dropped.
  init(limit: Int, drained: @escaping @Sendable () -> Void) {
    state = Mutex(State(limit: limit))
    self.drained = drained
  }

  var total: Int { state.withLock(\.total) }

  /// Sets a connection's number of unread bytes. If a connection must be closed (perhaps another one), returns that
  /// connection and its number of unread bytes.
  func set(_ bytes: Int, for connection: ConnectionID) -> (connection: ConnectionID, bytes: Int)? {
    let (most, isDrained) = state.withLock { state in
      guard !state.exceeding.contains(connection) else {
        if bytes == 0 { state.exceeding.remove(connection) }
        return (nil as (key: ConnectionID, value: Int)?, state.takePeak())
      }
      state.total += bytes - (state.shares.updateValue(bytes, forKey: connection) ?? 0)
      if bytes == 0 { state.shares[connection] = nil }
      state.peak = max(state.peak, state.total)
      guard state.total > state.limit, let most = state.shares.max(by: { $0.value < $1.value }) else {
        return (nil, state.takePeak())
      }
      state.shares[most.key] = nil
      state.exceeding.insert(most.key)
      state.total -= most.value
      return (most, false)
    }
    if isDrained { drained() }
    return most.map { ($0.key, $0.value) }
  }

  func change(limit: Int) { state.withLock { $0.limit = limit } }
}
