import HearthClient
import HearthControl
import HearthCore
import TestSupport
import Testing

@Suite("A credential under a passphrase", .serialized, .mayBlock) struct PassphraseTests {
  private static let protection = "protection = \"passphrase\"\n"

  @Test("the passphrase is asked for before the first sign-in, and an empty one is refused")
  func first() async throws {
    try await TestEnvironment.session(Self.protection, signsIn: false) { _, sandbox, daemon in
      try daemon.call("session.lock", ["account": "work"])
      let needed = try daemon.refusal(of: "session.unlock", ["account": "work"])
      #expect(needed.code == 1302 && needed.data?["kind"] == "passphraseNeeded")
      try daemon.waitFor("unauthenticated", "neverSignedIn")
      let empty = try daemon.refusal(of: "session.unlock", ["account": "work", "passphrase": ""])
      #expect(empty.code == -32602 && empty.message.contains("passphrase"))
      let grant = try sandbox.grant()
      let unset = try daemon.refusal(
        of: "session.import", ["account": "work", "refreshToken": .string(grant.refreshToken)])
      #expect(unset.code == 1302)
      #expect(try daemon.call("session.unlock")["sessions"]?.array?.count == 1, "asked of all, it is no error")

      try daemon.call("session.unlock", ["account": "work", "passphrase": "open sesame"])
      try daemon.call("session.unlock", ["account": "work"])
      try daemon.signIn(at: sandbox)
      #expect(Files.text(daemon.credential()).contains("\"sealed\""))
    }
  }

  @Test("a wrong passphrase is refused, and the right one behind it waits and is taken")
  func wrong() async throws {
    try await TestEnvironment.session(Self.protection, signsIn: false) { _, sandbox, daemon in
      try daemon.call("session.unlock", ["account": "work", "passphrase": "open sesame"])
      try daemon.signIn(at: sandbox)
      try daemon.restart()
      try daemon.waitFor("locked", "passphraseRequired")
      #expect(try daemon.refusal(of: "session.unlock", ["account": "work"]).code == 1302)
      let refusal = try daemon.refusal(of: "session.unlock", ["account": "work", "passphrase": "open"])
      #expect(refusal.code == 1301)
      let unlocked = try daemon.call("session.unlock", ["account": "work", "passphrase": "open sesame"])
      #expect(unlocked["sessions"]?[0]?["state"] == "authenticated")
    }
  }

  @Test("keys are made one after the other, however many ask at once: each takes 128 MiB")
  func memory() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let names = (1...3).map { "account\($0)" }
      let daemon = try Daemon(
        on: environment,
        configuration: names.map { Configuration.oidc(sandbox, account: $0, "protection = \"passphrase\"") }.joined())
      daemon.keysAreCheap = false
      try daemon.start()
      var client = try ControlClient(path: daemon.socket)
      var calls: [BegunCall<UnlockSessions>] = []
      for name in names {
        calls.append(try client.begin(UnlockSessions(AccountName(name)!, passphrase: Secret("open sesame"))))
      }
      let process = try #require(daemon.process)
      for call in calls {
        // A key takes a debug build seconds of processor time.
        try eventually("a key is made", while: { process.work }) {
          try client.response(to: call, within: .seconds(10))
        }
      }
      let pid = process.pid
      let peak = try #require(Files.text("/proc/\(pid)/status").split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
      let kibibytes = peak.split { !$0.isNumber }.first.flatMap { Int($0) }
      #expect(try #require(kibibytes) < 300 << 10, "\(peak)")
      try daemon.signIn("account1", at: sandbox)
      #expect(Files.text(daemon.credential("account1")).contains(#""n":131072"#), "as they are meant to be")
    }
  }

  @Test("one unlock with the passphrase is enough after a restart in which the user's own lock held")
  func lockedAcrossRestart() async throws {
    try await TestEnvironment.session(Self.protection, signsIn: false) { _, sandbox, daemon in
      try daemon.call("session.unlock", ["account": "work", "passphrase": "open sesame"])
      try daemon.signIn(at: sandbox)
      try daemon.call("session.lock", ["account": "work"])
      try daemon.restart()
      try daemon.waitFor("locked", "lockedByUser")
      try daemon.call("session.unlock", ["account": "work", "passphrase": "open sesame"])
      let status = try daemon.waitFor("authenticated")
      #expect(status.credential.error == nil && status.refresh.nextAttemptAt != nil)
      try daemon.refresh()
      try daemon.call("session.lock", ["account": "work"])
      #expect(try daemon.refusal(of: "session.unlock", ["account": "work"]).code == 1302, "a lock forgets the key")
    }
  }

  @Test("a new configuration asks for the passphrase again only where the protection is new")
  func reload() async throws {
    try await TestEnvironment.session(Self.protection, signsIn: false) { _, sandbox, daemon in
      try daemon.call("session.unlock", ["account": "work", "passphrase": "open sesame"])
      try daemon.signIn(at: sandbox)
      let token = try daemon.token()

      try daemon.configure(Configuration.oidc(sandbox, "protection = \"passphrase\"\nlock_on = [\"unreadable\"]"))
      try daemon.call("daemon.reload")
      try daemon.waitFor("authenticated")
      #expect(try daemon.token().secret == token.secret)
      let before = Files.text(daemon.credential())
      try daemon.call("session.refresh", ["account": "work"])
      #expect(Files.text(daemon.credential()) != before, "what comes later is sealed too")

      try daemon.call("session.lock", ["account": "work"])
      try daemon.configure(Configuration.oidc(sandbox, "protection = \"passphrase\""))
      try daemon.call("daemon.reload")
      #expect(try daemon.refusal(of: "session.unlock", ["account": "work"]).code == 1302, "a lock forgets the key")
    }
  }
}
