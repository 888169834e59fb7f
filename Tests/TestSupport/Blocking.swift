import HearthThreads

/// Runs what blocks on a thread of its own, so that the tasks it waits for can go on.
package func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await WorkerThread.run { Result { try body() } }.get()
}
