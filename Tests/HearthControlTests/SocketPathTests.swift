import HearthControl
import Testing

@Suite struct SocketPathTests {
  @Test("the option comes before HEARTH_SOCKET, and that before XDG_RUNTIME_DIR")
  func order() throws {
    let both = ["HEARTH_SOCKET": "/h", "XDG_RUNTIME_DIR": "/run/user/1"]
    #expect(try SocketPath.resolve(option: "/o", environment: both) == "/o")
    #expect(try SocketPath.resolve(option: nil, environment: both) == "/h")
    #expect(
      try SocketPath.resolve(option: nil, environment: ["HEARTH_SOCKET": "", "XDG_RUNTIME_DIR": "/run/user/1"])
        == "/run/user/1/hearth/rpc.sock")
  }

  @Test("says when nothing is set, and when the path is longer than a socket's can be")
  func problems() {
    #expect(throws: SocketPath.Failure.unknown) { try SocketPath.resolve(option: nil, environment: [:]) }
    let fits = "/" + String(repeating: "a", count: 106)
    #expect(throws: Never.self) { try SocketPath.resolve(option: fits, environment: [:]) }
    #expect(throws: SocketPath.Failure.tooLong(fits + "a")) {
      try SocketPath.resolve(option: fits + "a", environment: [:])
    }
  }
}
