import Glibc
import HearthControl
import TestSupport
import Testing

@Suite("No room in inotify", .serialized, .mayBlock) struct InotifyShortageTests {
  @Test(
    "is said once, in log and doctor; a changed credential is noticed all the same, and watched once there is room",
    .enabled(if: InotifyLimit.isPossible, "needs user namespaces"),
    arguments: [("watches", 3), ("instances", 0)])
  func usedUp(_ what: String, _ limit: Int) async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try Daemon(on: environment, configuration: Configuration.oidc(sandbox))
      let room = try InotifyLimit(on: environment, of: what, limit)
      daemon.launcher = room.launcher
      try daemon.start()
      try daemon.signIn(at: sandbox)
      let setting = "fs.inotify.max_user_\(what)"
      func doctor() throws -> String { try environment.hearthctl(["doctor", "--socket", daemon.socket]).output }
      func said(_ words: String) -> Int {
        daemon.process?.errors.split(separator: "\n").filter { $0.contains(words) }.count ?? 0
      }
      func expectNoticed(_ what: String) throws {
        let grant = try sandbox.grant()
        try Files.replace(daemon.credential(), with: CredentialText.grant(grant, of: sandbox))
        try eventually(what) { try daemon.token().secret == grant.accessToken }
      }

      try expectNoticed("a grant is noticed that cannot be watched")
      #expect(try doctor().contains(setting))
      #expect(said(setting) == 1)
      try room.make()
      try eventually("it is watched again") { said("can watch its files again") == 1 }
      #expect(try !doctor().contains(setting))
      try expectNoticed("a grant is noticed that is watched")
      #expect(said(setting) == 1 && said("can watch its files again") == 1)
    }
  }
}

/// A user namespace in which a user may have few watches or instances of inotify (namespaces(7), /proc/sys/user), for the
/// program that is started by its launcher.
private final class InotifyLimit {
  let launcher: [String]
  private let pipe: String

  /// `what`: `watches` or `instances`.
  init(on environment: TestEnvironment, of what: String, _ limit: Int) throws {
    pipe = "\(environment.folder)/inotify-limit"
    guard mkfifo(pipe, 0o600) == 0 else { throw CallFailure("mkfifo") }
    // The shell beside the program ends by itself should nobody tell it to.
    let script = """
      set -e
      limit=/proc/sys/user/max_inotify_\(what)
      echo \(limit) > $limit
      timeout 300 sh -c 'read -r more < "$0" && echo "$more" > "$1"' "\(pipe)" $limit 3<&- &
      exec "$@"
      """
    launcher = Self.unshare + ["/bin/sh", "-c", script, "sh"]
  }

  func make() throws {
    let descriptor = open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw CallFailure("open \(pipe)") }
    defer { close(descriptor) }
    guard write(descriptor, "1000\n", 5) == 5 else { throw CallFailure("write \(pipe)") }
  }

  private static let unshare = ["/usr/bin/unshare", "--user", "--map-root-user"]

  static let isPossible =
    (try? Command.run(unshare + ["/bin/sh", "-c", "echo 3 > /proc/sys/user/max_inotify_watches"])) != nil
}
