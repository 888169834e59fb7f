import TestSupport
import Testing

/// The tests of a suite may block.
struct MayBlock: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing body: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(OwnThreads.shared) { try await body() }
  }
}

extension Trait where Self == MayBlock {
  static var mayBlock: MayBlock { MayBlock() }
}
