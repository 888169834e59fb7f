import Glibc
import HearthControl
import HearthLinux
import TestSupport
import Testing

@Suite("Processes of other users", .timeLimit(.minutes(1)), .enabled(if: geteuid() == 0, "needs root"))
struct OtherUserTests {
  private static let nobody: uid_t = 65_534

  @Test("are turned away without a word, even where the files' permissions would let them in")
  func otherUser() async throws {
    let (handler, log) = (ScriptedHandler(), LogRecorder())
    try await serving(handler, log: log) { path, _ in
      let folder = path.split(separator: "/").dropLast().map { "/" + $0 }.joined()
      #expect(chmod(folder, 0o755) == 0 && chmod(path, 0o666) == 0)
      await #expect(processExitsWith: .success) { [path = path as String] in
        try #require(setgroups(0, nil) == 0 && setgid(65_534) == 0 && setuid(65_534) == 0)
        let client = try RawClient(path: path)
        client.call(1, "echo")
        #expect(try client.receiveAll().isEmpty)
      }
      try await onThread {
        let client = try RawClient(path: path)
        client.call(2, "get_data")
        #expect(try client.receive() == answer(2, ["hello", 5]))
      }
    }
    #expect(handler.begun == ["get_data"])
    #expect(log.records.contains { $0.message.hasPrefix("Rejected a connection from user \(Self.nobody) ") })
  }
}
