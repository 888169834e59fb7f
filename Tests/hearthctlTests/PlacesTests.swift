import FoundationEssentials
import Glibc
import HearthControl
import TestSupport
import Testing

@testable import hearthctl

@Suite struct PlacesTests {
  private let folder = TemporaryFolder()

  @Test("a configuration that others may write is a problem, a missing one is not")
  func configuration() throws {
    let environment = ["HEARTH_CONFIG": folder.file("config.toml"), "XDG_CONFIG_HOME": folder.path]
    try "".write(toFile: folder.file("config.toml"), atomically: false, encoding: .utf8)
    chmod(folder.file("config.toml"), 0o644)
    #expect(Places.configuration { environment[$0] } == [Finding(.good, "configuration", folder.file("config.toml"))])
    chmod(folder.file("config.toml"), 0o664)
    #expect(Places.configuration { environment[$0] }.map(\.verdict) == [.bad(.failed)])
    unlink(folder.file("config.toml"))
    #expect(Places.configuration { environment[$0] }.map(\.verdict) == [.doubtful])
  }

  @Test("a state folder open to others is a problem, one that is not there yet is not")
  func state() {
    let environment = ["HEARTH_STATE_DIR": folder.file("state")]
    #expect(Places.state { environment[$0] }.map(\.verdict) == [.doubtful])
    mkdir(folder.file("state"), 0o700)
    #expect(Places.state { environment[$0] } == [Finding(.good, "state", folder.file("state"))])
    chmod(folder.file("state"), 0o750)
    #expect(Places.state { environment[$0] }.map(\.verdict) == [.bad(.failed)])
  }

  @Test("a socket that is not there is no daemon, and a file in its place is a problem")
  func socket() throws {
    let path = folder.file("rpc.sock")
    #expect(Places.socket(path).map(\.verdict) == [.bad(.noDaemon)])
    let daemon = FakeDaemon(path: path) { _ in .hangUp }
    #expect(Places.socket(path) == [Finding(.good, "socket", path)])
    withExtendedLifetime(daemon) {}
    try "".write(toFile: folder.file("file"), atomically: false, encoding: .utf8)
    #expect(Places.socket(folder.file("file")).map(\.verdict) == [.bad(.failed)])
  }
}
