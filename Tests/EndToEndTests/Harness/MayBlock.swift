import TestSupport
import Testing

/// For suites whose tests block and start programs. Only a few of them run at once, because each needs processor time.
struct MayBlock: SuiteTrait, TestTrait, TestScoping {
  private static let turns = AsyncSemaphore(8)

  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing body: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await Self.turns.withTurn {
      try await withTaskExecutorPreference(OwnThreads.shared) { try await body() }
    }
  }
}

extension Trait where Self == MayBlock {
  static var mayBlock: MayBlock { MayBlock() }
}
