import HearthControl
import HearthCore
import Synchronization

/// Limits the number of requests in progress per account. Ends a request when its client disconnects.
final class RequestPlaces: Sendable {
  /// The maximum number of requests in progress per account. Each may buffer `RequestMachine.responseLimit` bytes.
  static let mostAtOnce = 64

  private struct Place {
    let account: AccountName
    let client: ConnectionID?
    /// Finishes when the client disconnects.
    let presence: AsyncStream<Never>.Continuation
  }

  private struct State {
    var places: [Int: Place] = [:]
    var lastNumber = 0
    /// Clients that have disconnected but still have calls running.
    var left: Set<ConnectionID> = []
  }

  private let state = Mutex(State())

  /// Occupies one of the account's slots until `giveBack` is called or the client disconnects. Finishes `presence` if
  /// the client disconnects. `client` is `nil` for callers that cannot disconnect.
  func take(
    _ account: AccountName, for client: ConnectionID?
  ) throws -> (number: Int, presence: AsyncStream<Never>) {
    let (presence, ending) = AsyncStream<Never>.makeStream()
    let number = try state.withLock { state in
      if let client, state.left.contains(client) { throw Failure.clientLeft }
      guard state.places.values.count(where: { $0.account == account }) < Self.mostAtOnce else {
        throw Failure.tooManyRequests(of: account)
      }
      state.lastNumber += 1
      state.places[state.lastNumber] = Place(account: account, client: client, presence: ending)
      return state.lastNumber
    }
    return (number, presence)
  }

  func giveBack(_ number: Int) { state.withLock { _ = $0.places.removeValue(forKey: number) } }

  /// Runs `work` in one of the account's slots. If the client disconnects, frees the slot immediately and cancels the
  /// work.
  func run<Value: Sendable>(
    _ account: AccountName, for client: ConnectionID?,
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let (number, presence) = try take(account, for: client)
    defer { giveBack(number) }
    guard client != nil else { return try await work() }
    return try await withThrowingTaskGroup(of: Value?.self) { group in
      group.addTask { try await work() }
      group.addTask {
        for await _ in presence {}
        return nil
      }
      var result = try await group.next() ?? nil
      group.cancelAll()
      // If there is no result, the client has disconnected. Wait for the cancelled work to end.
      if case nil = result { result = try await group.next() ?? nil }
      guard let result else { throw Failure.clientLeft }
      return result
    }
  }

  /// Ends the requests of a client that has disconnected. Does not block.
  func clientLeft(_ client: ConnectionID) {
    let left = state.withLock { state in
      state.left.insert(client)
      let left = state.places.filter { $0.value.client == client }
      for number in left.keys { state.places[number] = nil }
      return left.values
    }
    for place in left { place.presence.finish() }
  }

  func hasLeft(_ client: ConnectionID?) -> Bool {
    client.map { left in state.withLock { $0.left.contains(left) } } ?? false
  }

  /// Forgets a disconnected client, once its last call has returned.
  func clientForgotten(_ client: ConnectionID) { state.withLock { _ = $0.left.remove(client) } }
}

extension Failure {
  /// The failure if a request's client disconnects. Nobody receives it.
  static let clientLeft = Failure(.requestFailed, "The client disconnected. The request was not sent.")

  static func tooManyRequests(of account: AccountName) -> Failure {
    Failure(
      .overloaded,
      "\(account) already has \(RequestPlaces.mostAtOnce) requests in flight. Try again when one of them has finished."
    )
  }
}
