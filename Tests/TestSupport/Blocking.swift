import HearthThreads

/// Runs blocking code on its own thread, so that the tasks it waits for can continue.
package func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await WorkerThread.run { Result { try body() } }.get()
}
