import HearthControl
import Testing

@Suite struct SocketPathTests {
  private func resolve(_ option: String?, _ environment: [String: String] = [:]) throws -> String {
    try SocketPath.resolve(option: option, else: EnvironmentPaths(workingDirectory: "/cwd") { environment[$0] })
  }

  @Test("the option comes before HEARTH_SOCKET, and that before XDG_RUNTIME_DIR")
  func order() throws {
    let both = ["HEARTH_SOCKET": "/h", "XDG_RUNTIME_DIR": "/run/user/1"]
    #expect(try resolve("/o", both) == "/o")
    #expect(try resolve(nil, both) == "/h")
    #expect(try resolve(nil, ["HEARTH_SOCKET": "", "XDG_RUNTIME_DIR": "/run/user/1"]) == "/run/user/1/hearth/rpc.sock")
  }

  @Test("says when nothing is set, and when the path is longer than a socket's can be")
  func problems() {
    #expect(throws: SocketPath.Failure.unknown) { try resolve(nil) }
    let fits = "/" + String(repeating: "a", count: 106)
    #expect(throws: Never.self) { try resolve(fits) }
    #expect(throws: SocketPath.Failure.tooLong(fits + "a")) { try resolve(fits + "a") }
  }
}
