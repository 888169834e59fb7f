/// Runs tests that compute for a long time one after another, on a separate thread, so that tests with a time limit
/// keep the other processors.
package func inTurn<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
  try await turns.withTurn {
    try await withTaskExecutorPreference(OwnThreads.shared) { try await body() }
  }
}

private let turns = AsyncSemaphore(1)
