import HearthControl
import HearthCore
import Synchronization

/// The requests in progress: limited per account, and each only as long as its client is connected.
final class RequestPlaces: Sendable {
  /// The most requests of an account at once. Each may hold an answer of `RequestMachine.responseLimit` bytes.
  static let mostAtOnce = 64

  private struct Place {
    let account: AccountName
    let client: ConnectionID?
    /// Ends when the client leaves.
    let presence: AsyncStream<Never>.Continuation
  }

  private struct State {
    var places: [Int: Place] = [:]
    var lastNumber = 0
    /// Clients that have left, but whose last calls are still running.
    var left: Set<ConnectionID> = []
  }

  private let state = Mutex(State())

  /// Takes a place of the account until `giveBack`, or until the client leaves, which ends `presence`. `client` is
  /// `nil` for a caller that does not leave.
  func take(
    _ account: AccountName, for client: ConnectionID?
  ) throws(RequestFailure) -> (number: Int, presence: AsyncStream<Never>) {
    let (presence, ending) = AsyncStream<Never>.makeStream()
    let number: Int? = try state.withLock { state throws(RequestFailure) in
      if let client, state.left.contains(client) { throw .clientLeft }
      guard state.places.values.count(where: { $0.account == account }) < Self.mostAtOnce else { return nil }
      state.lastNumber += 1
      state.places[state.lastNumber] = Place(account: account, client: client, presence: ending)
      return state.lastNumber
    }
    guard let number else { throw .tooMany(Self.mostAtOnce) }
    return (number, presence)
  }

  func giveBack(_ number: Int) { state.withLock { _ = $0.places.removeValue(forKey: number) } }

  /// Runs the work in a place of the account. If the client leaves, the place is free at once and the work is
  /// cancelled.
  func run<Value: Sendable>(
    _ account: AccountName, for client: ConnectionID?,
    _ work: @escaping @Sendable () async throws(RequestFailure) -> Value
  ) async throws(RequestFailure) -> Value {
    let (number, presence) = try take(account, for: client)
    defer { giveBack(number) }
    guard client != nil else { return try await work() }
    let result = await withTaskGroup(of: Result<Value, RequestFailure>?.self) { group in
      group.addTask { await Result { () async throws(RequestFailure) in try await work() } }
      group.addTask {
        for await _ in presence {}
        return nil
      }
      let first = await group.next()
      group.cancelAll()
      // No result means that the client has left; still wait for the work to end.
      return if let result = first ?? nil { result } else { await group.next() ?? nil }
    }
    guard let result else { throw .clientLeft }
    return try result.get()
  }

  /// Ends the requests of a client that has left. Returns at once.
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

  /// Forgets a client that has left, once its last call has returned.
  func clientForgotten(_ client: ConnectionID) { state.withLock { _ = $0.left.remove(client) } }
}

extension RequestFailure {
  /// The failure of a request whose client has left. Nobody receives it.
  static let clientLeft = unanswered(message: "The client has left. The request was not sent.")
}
