import TestSupport
import Testing

/// The tests of a suite may block, and start programs: a few of them at once, for each needs its share of the processors.
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
