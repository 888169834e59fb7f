import HearthControl
import Synchronization

/// The bytes of answers that clients have not read, over all connections, and their limit. If it is exceeded, the
/// connection with the most has to be closed, so that a client that does not read does not use up the memory of the
/// others.
final class OutputBudget: Sendable {
  private struct State {
    var limit: Int
    var total = 0
    var shares: [ConnectionID: Int] = [:]
    /// Connections that have to be closed, and no longer count.
    var exceeding: Set<ConnectionID> = []
    /// The most that was held since the last call of `drained`.
    var peak = 0

    /// Returns true once after a large peak has gone down.
    mutating func takePeak() -> Bool {
      guard peak >= OutputBudget.largePeak, total < peak / 4 else { return false }
      peak = total
      return true
    }
  }

  /// The size of a large peak, in bytes. Memory that is freed below it will be used again.
  static let largePeak = 16 << 20

  private let state: Mutex<State>
  private let drained: @Sendable () -> Void

  /// `drained` is called when most of a large peak has been read or dropped.
  init(limit: Int, drained: @escaping @Sendable () -> Void) {
    state = Mutex(State(limit: limit))
    self.drained = drained
  }

  /// The bytes that are held now.
  var total: Int { state.withLock(\.total) }

  /// Sets how many bytes wait for this connection's client. Returns a connection that has to be closed, and what it
  /// held.
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
