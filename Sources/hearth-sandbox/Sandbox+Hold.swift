import Hummingbird
import ServiceLifecycle
import Synchronization

extension Sandbox {
  /// A request that is waiting to be released. Releasing it finishes the stream.
  struct Hold: Sendable {
    let stream: AsyncStream<Void>
    let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }
  }

  /// Returns the fault for a request, if any, and a hold if the request must wait. The request counts as waiting
  /// immediately, so that `release` cannot miss it.
  func nextFault(for call: Call) -> (fault: Fault, hold: Hold?)? {
    held.withLock { held in
      guard let fault = state.withLock({ $0.faults.next(for: call) }) else { return nil }
      guard fault.hold == true else { return (fault, nil) }
      let hold = Hold()
      held.insert(hold.continuation)
      return (fault, hold)
    }
  }

  /// Waits until the request is released. Throws if its client disconnects or the sandbox stops.
  func wait(for hold: Hold, _ request: Request) async throws {
    defer { _ = held.withLock { $0.remove(hold.continuation) } }
    try await request.body.consumeWithCancellationOnInboundClose { _ in
      try await cancelWhenGracefulShutdown {
        for await _ in hold.stream {}
        try Task.checkCancellation()
      }
    }
  }

  /// Releases all waiting requests and removes the faults with `hold`. Returns the number of released requests.
  @discardableResult
  func release() -> Int {
    let released = held.withLock { held in
      state.withLock { $0.faults.faults.removeAll { $0.hold == true } }
      defer { held = [] }
      return held
    }
    for continuation in released { continuation.finish() }
    return released.count
  }
}
