/// Runs tests that compute for long one after another, off the threads that all tests share: the other processors stay
/// with the tests whose time is limited.
package func inTurn<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
  try await turns.withTurn {
    try await withTaskExecutorPreference(OwnThreads.shared) { try await body() }
  }
}

private let turns = AsyncSemaphore(1)
