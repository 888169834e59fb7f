import FoundationEssentials
import Glibc
import HearthControl
import HearthCore
import TestSupport
import Testing

@testable import hearthctl

@Suite struct PathChecksTests {
  private let folder = TemporaryFolder()

  private func unasked(_ environment: [String: String]) -> [Finding] {
    Finding.paths(EnvironmentPaths(workingDirectory: "/cwd") { environment[$0] })
  }

  @Test("a configuration that others may write is a problem, a missing one is not")
  func configuration() throws {
    let path = folder.file("config.toml")
    let environment = ["HEARTH_CONFIG": path, "XDG_CONFIG_HOME": folder.path]
    try "".write(toFile: path, atomically: false, encoding: .utf8)
    chmod(path, 0o644)
    #expect(unasked(environment).first == Finding(.good, "configuration", path))
    chmod(path, 0o664)
    #expect(unasked(environment).first?.verdict == .bad(.failed))
    unlink(path)
    #expect(unasked(environment).first?.verdict == .doubtful)
  }

  @Test("where the file that HEARTH_CONFIG names does not exist, it is said which one is used")
  func otherConfiguration() throws {
    mkdir(folder.file("hearth"), 0o700)
    try "".write(toFile: folder.file("hearth/config.toml"), atomically: false, encoding: .utf8)
    let finding = unasked(["HEARTH_CONFIG": "mine.toml", "XDG_CONFIG_HOME": folder.path]).first
    #expect(
      finding
        == Finding(
          .doubtful, "configuration",
          "/cwd/mine.toml (HEARTH_CONFIG) does not exist, so Hearth uses \(folder.file("hearth/config.toml"))"))
  }

  @Test("a state folder open to others is a problem, one that is not there yet is not, and no home is one")
  func state() {
    let environment = ["HEARTH_STATE_DIR": folder.file("state")]
    #expect(unasked(environment).last?.verdict == .doubtful)
    mkdir(folder.file("state"), 0o700)
    #expect(unasked(environment).last == Finding(.good, "state", folder.file("state")))
    chmod(folder.file("state"), 0o750)
    #expect(unasked(environment).last?.verdict == .bad(.failed))
    #expect(unasked([:]).last == Finding(.bad(.failed), "state", "The state folder is unknown. Set HOME."))
  }

  @Test("a session whose token has run out, or that has none yet, says so and what to do")
  func withoutToken() {
    var expired = Samples.session(health: .expired, remaining: 0)
    expired.history.lastError = "No connection to https://id.example.com."
    #expect(
      Finding(expired)
        == Finding(
          .bad(.later), "session",
          "The token has expired, and Hearth keeps requesting a new one. No connection to https://id.example.com. "
            + "To retry now, run \"hearthctl retry work\".", of: AccountName("work")))
    #expect(Finding(Samples.session(health: nil)).message.contains("The session has no token yet"))
    var otherUsers = Samples.session(message: "Sign in.", health: .expired, remaining: 0)
    otherUsers.action = .signIn
    #expect(Finding(otherUsers).message == "Sign in.")
  }

  @Test("what went wrong last is said once")
  func lastError() {
    let error = "No connection to https://id.example.com."
    for message in ["Signed in.", "Signed in; refreshing fails for now: \(error)"] {
      var session = Samples.session(message: message)
      (session.history.failures, session.history.lastError) = (2, error)
      #expect(Finding(session).verdict == .doubtful)
      #expect(Finding(session).message.ranges(of: error).count == 1)
    }
  }

  @Test("a session that nothing renews is doubtful from the beginning")
  func notKept() {
    var session = Samples.session(message: "Signed in until the access token runs out.")
    #expect(Finding(session).verdict == .good)
    session.token?.refreshAt = nil
    #expect(Finding(session).verdict == .doubtful && Finding(session).message.contains("until the access token"))
    session.token?.expiresAt = nil
    #expect(Finding(session).verdict == .good, "it lasts for ever")
  }

  @Test("a socket that is not there is no daemon, and a file in its place is a problem")
  func socket() throws {
    let path = folder.file("rpc.sock")
    #expect(Finding.socket(path).verdict == .bad(.noDaemon))
    let daemon = FakeDaemon(path: path) { _ in .hangUp }
    #expect(Finding.socket(path) == Finding(.good, "socket", path))
    withExtendedLifetime(daemon) {}
    try "".write(toFile: folder.file("file"), atomically: false, encoding: .utf8)
    #expect(Finding.socket(folder.file("file")).verdict == .bad(.failed))
  }
}
