import TestSupport

/// Runs the hearthctl that was built along with the tests.
struct Program {
  struct Outcome: Sendable {
    let status: Int32
    let output: String
    let errors: String
  }

  /// Without anything of the surrounding environment. `file`: where its output goes instead.
  static func run(
    _ arguments: [String], input: String = "", environment: [String: String] = [:], into file: String? = nil
  ) async throws -> Outcome {
    try await onThread {
      let folder = TemporaryFolder()
      let process = try ChildProcess(
        "hearthctl", arguments, environment: environment, input: .text(input), output: file, outputFolder: folder.path)
      let status = try process.waitForExit()
      return Outcome(status: status, output: file == nil ? process.output : "", errors: process.errors)
    }
  }
}
