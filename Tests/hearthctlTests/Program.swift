import Foundation
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
      let process = Process()
      process.executableURL = URL(fileURLWithPath: BuiltProduct.path("hearthctl"))
      process.arguments = arguments
      process.environment = environment
      let (stdin, stdout, stderr) = (Pipe(), Pipe(), Pipe())
      process.standardInput = stdin
      process.standardOutput = file.flatMap { FileHandle(forWritingAtPath: $0) } ?? stdout
      process.standardError = stderr
      try process.run()
      if file != nil { try stdout.fileHandleForWriting.close() }
      stdin.fileHandleForWriting.write(Data(input.utf8))
      try stdin.fileHandleForWriting.close()
      // Both are short: neither fills its pipe while the other is read.
      let output = stdout.fileHandleForReading.readDataToEndOfFile()
      let errors = stderr.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return Outcome(
        status: process.terminationStatus, output: String(decoding: output, as: UTF8.self),
        errors: String(decoding: errors, as: UTF8.self))
    }
  }
}
