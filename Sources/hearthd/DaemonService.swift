import ServiceLifecycle

/// One service of the daemon for the service group. It runs until it is told to stop, and may need time to end.
struct DaemonService: Service {
  let run: @Sendable () async throws -> Void
  /// Asks `run` to end; nil where `run` may be cancelled at any time.
  var stop: (@Sendable () async -> Void)?

  func run() async throws {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        try await run()
        return true
      }
      group.addTask {
        guard (try? await gracefulShutdown()) != nil else { return false }
        await stop?()
        return stop == nil
      }
      for try await hasEnded in group where hasEnded { group.cancelAll() }
    }
  }
}
