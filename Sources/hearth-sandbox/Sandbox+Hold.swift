import Hummingbird
import ServiceLifecycle
import Synchronization

extension Sandbox {
  /// A held request's wait: the stream ends when the request is released.
  struct Hold: Sendable {
    let stream: AsyncStream<Void>
    let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }
  }

  /// The fault for a request, with its hold if the fault holds it. The request counts as held from now on, so that a
  /// `release` cannot miss it.
  func nextFault(for call: Call) -> (fault: Fault, hold: Hold?)? {
    held.withLock { held in
      guard let fault = state.withLock({ $0.faults.next(for: call) }) else { return nil }
      guard fault.hold == true else { return (fault, nil) }
      let hold = Hold()
      held.insert(hold.continuation)
      return (fault, hold)
    }
  }

  /// Waits until the request is released. Throws if its client leaves or the sandbox stops first.
  func wait(for hold: Hold, _ request: Request) async throws {
    defer { _ = held.withLock { $0.remove(hold.continuation) } }
    try await request.body.consumeWithCancellationOnInboundClose { _ in
      try await cancelWhenGracefulShutdown {
        for await _ in hold.stream {}
        try Task.checkCancellation()
      }
    }
  }

  /// Releases the held requests and removes the faults that would hold more. Returns how many requests were held.
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
