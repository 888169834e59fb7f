import Dispatch

/// Runs what blocks on a thread of its own, so that the tasks it waits for can go on.
package func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    DispatchQueue(label: "hearth.blocking").async {
      continuation.resume(with: Result { try body() })
    }
  }
}
