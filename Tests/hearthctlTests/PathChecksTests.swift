import FoundationEssentials
import Glibc
import HearthControl
import TestSupport
import Testing

@testable import hearthctl

@Suite struct PathChecksTests {
  private let folder = TemporaryFolder()

  @Test("a configuration that others may write is a problem, a missing one is not")
  func configuration() throws {
    let environment = ["HEARTH_CONFIG": folder.file("config.toml"), "XDG_CONFIG_HOME": folder.path]
    try "".write(toFile: folder.file("config.toml"), atomically: false, encoding: .utf8)
    chmod(folder.file("config.toml"), 0o644)
    #expect(
      PathChecks.configuration { environment[$0] } == [Finding(.good, "configuration", folder.file("config.toml"))])
    chmod(folder.file("config.toml"), 0o664)
    #expect(PathChecks.configuration { environment[$0] }.map(\.verdict) == [.bad(.failed)])
    unlink(folder.file("config.toml"))
    #expect(PathChecks.configuration { environment[$0] }.map(\.verdict) == [.doubtful])
  }

  @Test("a state folder open to others is a problem, one that is not there yet is not")
  func state() {
    let environment = ["HEARTH_STATE_DIR": folder.file("state")]
    #expect(PathChecks.state { environment[$0] }.map(\.verdict) == [.doubtful])
    mkdir(folder.file("state"), 0o700)
    #expect(PathChecks.state { environment[$0] } == [Finding(.good, "state", folder.file("state"))])
    chmod(folder.file("state"), 0o750)
    #expect(PathChecks.state { environment[$0] }.map(\.verdict) == [.bad(.failed)])
  }

  @Test("a socket that is not there is no daemon, and a file in its place is a problem")
  func socket() throws {
    let path = folder.file("rpc.sock")
    #expect(PathChecks.socket(path).map(\.verdict) == [.bad(.noDaemon)])
    let daemon = FakeDaemon(path: path) { _ in .hangUp }
    #expect(PathChecks.socket(path) == [Finding(.good, "socket", path)])
    withExtendedLifetime(daemon) {}
    try "".write(toFile: folder.file("file"), atomically: false, encoding: .utf8)
    #expect(PathChecks.socket(folder.file("file")).map(\.verdict) == [.bad(.failed)])
  }
}
