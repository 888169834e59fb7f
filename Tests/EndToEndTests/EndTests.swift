import HearthClient
import HearthControl
import HearthCore
import TestSupport
import Testing

@Suite("What ends a session", .serialized, .mayBlock) struct EndTests {
  @Test("sign-out revokes and removes what was left where the configuration pointed before, too")
  func formerPlace() async throws {
    try await TestEnvironment.session { environment, sandbox, daemon in
      let elsewhere = "\(environment.folder)/elsewhere.json"
      try daemon.configure(Configuration.oidc(sandbox, "credential_file = \"\(elsewhere)\""))
      try daemon.call("daemon.reload")
      try daemon.waitFor("reauthRequired", "credentialMissing")
      try daemon.signIn(at: sandbox)
      #expect(Files.exists(daemon.credential()) && Files.exists(elsewhere))
      let status = try daemon.call("session.signOut", ["account": "work"])
      #expect(status["revoked"] == true)
      #expect(try sandbox.count("revocations") == 4, "a refresh token and an access token each")
      #expect(!Files.exists(daemon.credential()) && !Files.exists(elsewhere))
    }
  }

  @Test("a refresh token that the provider refuses for good ends it, through restarts, and is never sent again")
  func revoked() async throws {
    try await TestEnvironment.session { _, sandbox, daemon in
      try sandbox.revoke()
      #expect(try daemon.refusal(of: "session.refresh", ["account": "work"]).code == 1002)
      let ended = try daemon.status()
      #expect(ended.state == "reauthRequired" && ended.reason == "refreshTokenRejected")
      #expect(ended.action == "signIn" && ended.route == "signIn" && ended.token == nil)

      try sandbox.forgetStats()
      try daemon.restart()
      try daemon.waitFor("reauthRequired", "refreshTokenRejected")
      for method in ["session.getToken", "session.refresh"] {
        #expect(try daemon.refusal(of: method, ["account": "work"]).code == 1002)
      }
      try daemon.call("session.rehydrate")
      #expect(try sandbox.count("tokenCalls") == 0)

      try daemon.signIn(at: sandbox)
      try daemon.waitFor("authenticated")
      _ = try daemon.token()
    }
  }

  @Test("how often one ended, and how long that lasted, is counted through restarts")
  func counted() async throws {
    try await TestEnvironment.session(signsIn: false) { _, sandbox, daemon in
      func metrics() throws -> String {
        try #require(try daemon.call("daemon.getMetrics", ["format": "openmetrics"])["text"]?.string)
      }
      let labels = #"account="work",reason="refreshTokenRejected""#
      try daemon.signIn(at: sandbox)
      try sandbox.revoke()
      _ = try daemon.refusal(of: "session.refresh", ["account": "work"])
      #expect(try metrics().contains("hearth_automatic_sign_outs_total{\(labels)} 1\n"))
      #expect(try metrics().contains(#"hearth_refreshes_total{account="work",result="rejected"} 1\#n"#))
      try daemon.restart()
      try daemon.waitFor("reauthRequired", "refreshTokenRejected")
      try daemon.signIn(at: sandbox)
      try daemon.restart()
      #expect(try metrics().contains("hearth_automatic_sign_outs_total{\(labels)} 1\n"))
      #expect(try metrics().contains("hearth_signed_out_seconds_count{\(labels)} 1\n"))
      #expect(try metrics().contains(#"hearth_refreshes_total{account="work",result="rejected"} 0\#n"#))
      #expect(try !metrics().contains(try sandbox.tokens.last ?? "?"))
    }
  }

  @Test("signing out revokes the grant and removes the credential, and stays so after a restart")
  func signOut() async throws {
    try await TestEnvironment.session(signsIn: false) { _, sandbox, daemon in
      try daemon.waitFor("unauthenticated", "neverSignedIn")
      try daemon.signIn(at: sandbox)
      let refreshToken = try sandbox.tokens.last ?? ""
      #expect(Files.text(daemon.credential()).contains(refreshToken))
      let answer = try daemon.call("session.signOut", ["account": "work"])
      #expect(answer["state"] == "unauthenticated" && answer["reason"] == "signedOut" && answer["revoked"] == true)
      #expect(try sandbox.count("revocations") >= 1)
      #expect(!Files.text(daemon.credential()).contains(refreshToken))
      let again = try daemon.call("session.signOut", ["account": "work"])
      #expect(again["state"] == "unauthenticated" && again["reason"] == "signedOut")
      try daemon.restart()
      try daemon.waitFor("unauthenticated", "signedOut")
      #expect(try daemon.refusal(of: "session.getToken", ["account": "work"]).code == 1001)
    }
  }

  @Test("signing out revokes while the user has locked, too")
  func signOutLocked() async throws {
    try await TestEnvironment.session { _, sandbox, daemon in
      let revocations = try sandbox.count("revocations")
      try daemon.call("session.lock", ["account": "work"])
      try daemon.waitFor("locked", "lockedByUser")
      let answer = try daemon.call("session.signOut", ["account": "work"])
      #expect(answer["state"] == "unauthenticated" && answer["revoked"] == true)
      #expect(try sandbox.count("revocations") > revocations)
    }
  }

  @Test("a sign-out that discards spares what is enqueued for the next user while it waits for the provider")
  func discardSparesTheNext() async throws {
    try await TestEnvironment.session { environment, sandbox, daemon in
      try daemon.call("outbox.pause", ["account": "work"])
      let old = try daemon.enqueue("old", to: sandbox.notes)
      try sandbox.fault(["path": "/revoke", "hang": true])
      let logout = try environment.spawn(
        "hearthctl", ["logout", "work", "--discard-outbox", "--socket", daemon.socket])
      try eventually("the session has ended") { try daemon.status().state == "unauthenticated" }
      let next = try daemon.enqueue("next", to: sandbox.notes)
      try sandbox.clearFaults()
      #expect(try logout.wait() == .exited(0))
      #expect(try daemon.item(old).state == .cancelled && daemon.item(next).state == .pending)
    }
  }

  @Test("a grant that was signed out offline is revoked after a restart, and lies on the disk sealed until then")
  func revokedLater() async throws {
    try await TestEnvironment.session { _, sandbox, daemon in
      let tokens = try sandbox.tokens
      let state = daemon.credentials.split(separator: "/").dropLast().map { "/" + $0 }.joined()
      let folder = state + "/revocations"
      // The provider's door is shut for revocations alone: its memory of the grant stays.
      try sandbox.fault(["path": "/revoke", "status": 503])
      let answer = try daemon.call("session.signOut", ["account": "work"])
      #expect(answer["state"] == "unauthenticated" && answer["revoked"] == false && answer["revokesLater"] == true)
      let notes = Files.names(in: folder)
      #expect(notes.count == 2, "a note and the key: \(notes)")
      for name in notes {
        for token in tokens { #expect(!Files.text("\(folder)/\(name)").contains(token)) }
      }
      let again = try daemon.call("session.signOut", ["account": "work"])
      #expect(again["state"] == "unauthenticated" && again["revoked"] == false)
      // The second sign-out has it tried once more, for which the door stays shut.
      try daemon.stop()
      try sandbox.clearFaults()
      try daemon.start()
      try eventually("it is revoked") { try sandbox.count("revocations") == 2 }
      try eventually("nothing is left") { Files.names(in: folder).isEmpty }
    }
  }

  @Test("a grant whose revocation a kill cuts short is revoked after the start")
  func killedWhileRevoking() async throws {
    try await TestEnvironment.session { _, sandbox, daemon in
      try sandbox.hold("/revoke", ["handle": false, "status": 503])
      var client = try ControlClient(path: daemon.socket)
      _ = try client.begin(SignOut(AccountName("work")!))
      try sandbox.waitUntilHeld()
      try daemon.crash()
      try sandbox.clearFaults()
      try sandbox.release()
      try daemon.start()
      try daemon.waitFor("unauthenticated", "signedOut")
      try eventually("it is revoked") { try sandbox.count("revocations") == 2 }
    }
  }

  @Test("while the same user is signed in again the old grant is left alone, and revoked with the new one at the end")
  func revokedWithTheNext() async throws {
    try await TestEnvironment.session { _, sandbox, daemon in
      try sandbox.fault(["path": "/revoke", "status": 503])
      #expect(try daemon.call("session.signOut", ["account": "work"])["revokesLater"] == true)
      try sandbox.clearFaults()
      try daemon.signIn(at: sandbox)
      try daemon.restart()
      try daemon.waitFor("authenticated")
      try daemon.call("daemon.reload")
      try daemon.refresh()
      #expect(try sandbox.count("revocations") == 0)
      #expect(try daemon.call("session.signOut", ["account": "work"])["revoked"] == true)
      try eventually("both are revoked") { try sandbox.count("revocations") == 4 }
    }
  }

  @Test("neither another user's sign-in nor a removed account keeps the grant of the one before from being revoked")
  func revokedBesideAnother() async throws {
    try await TestEnvironment.session { _, sandbox, daemon in
      try sandbox.fault(["path": "/revoke", "status": 503])
      #expect(try daemon.call("session.signOut", ["account": "work"])["revokesLater"] == true)
      try sandbox.clearFaults()
      try daemon.configure("")
      try daemon.restart()
      #expect(try daemon.call("session.list")["sessions"]?.array?.isEmpty == true)
      try daemon.configure(Configuration.oidc(sandbox))
      try daemon.call("daemon.reload")
      try daemon.signIn(at: sandbox, subject: "ada")
      try daemon.restart()
      try eventually("the first is revoked") { try sandbox.count("revocations") == 2 }
      try daemon.refresh()
    }
  }

  @Test("signing out everywhere names the page that ends the session at the provider")
  func everywhere() async throws {
    try await TestEnvironment.session { _, sandbox, daemon in
      let answer = try daemon.call("session.signOut", ["account": "work", "everywhere": true])
      #expect(answer["revoked"] == true)
      #expect(answer["endSessionUrl"]?.string?.hasPrefix("\(sandbox.url)/end_session?") == true)
    }
  }

  @Test("signing out works offline")
  func signOutOffline() async throws {
    try await TestEnvironment.session { _, sandbox, daemon in
      try sandbox.stop()
      let answer = try daemon.call("session.signOut", ["account": "work"])
      #expect(answer["state"] == "unauthenticated" && answer["revoked"] == false)
      try sandbox.start()
    }
  }

  @Test("a credential that is removed ends it: credentialMissing")
  func removed() async throws {
    try await TestEnvironment.session { _, sandbox, daemon in
      try Files.remove(daemon.credential())
      try daemon.waitFor("reauthRequired", "credentialMissing")
      try daemon.restart()
      try daemon.waitFor("reauthRequired", "credentialMissing")
      try daemon.signIn(at: sandbox)
      try daemon.waitFor("authenticated")
    }
  }

  @Test("a credential that is garbage when the daemon starts is set aside, not deleted: credentialCorrupt")
  func corrupt() async throws {
    try await TestEnvironment.session { _, _, daemon in
      try daemon.stop()
      try Files.write("this is not JSON", to: daemon.credential())
      try daemon.start()
      try daemon.waitFor("reauthRequired", "credentialCorrupt")
      let kept = Files.tree(daemon.credentials).filter { Files.text($0) == "this is not JSON" }
      #expect(kept.count == 1 && kept.first != daemon.credential())
    }
  }

  @Test("a credential of a newer version is left as it is: credentialTooNew")
  func tooNew() async throws {
    try await TestEnvironment.session { _, _, daemon in
      try daemon.stop()
      let newer = #"{"version":2,"account":"work","grants":[]}"#
      try Files.write(newer, to: daemon.credential())
      try daemon.start()
      try daemon.waitFor("reauthRequired", "credentialTooNew")
      #expect(Files.text(daemon.credential()) == newer)
    }
  }

  @Test("signing out while the file is out of reach is done when it comes back")
  func signOutOutOfReach() async throws {
    try await TestEnvironment.session(unprivileged: true) { environment, sandbox, daemon in
      let refreshToken = try sandbox.tokens.last ?? ""
      try Files.setMode(daemon.credentials, 0)
      try daemon.waitUntil("the file counts as unreadable") { !$0.credential.readable }
      #expect(try environment.hearthctl(["logout", "work", "--socket", daemon.socket]).status == 0)
      try daemon.waitFor("unauthenticated", "signedOut")
      try daemon.restart()
      try daemon.waitFor("unauthenticated", "signedOut")
      try Files.setMode(daemon.credentials, 0o700)
      try eventually("the grant is gone from the file") { !Files.text(daemon.credential()).contains(refreshToken) }
      try daemon.waitFor("unauthenticated", "signedOut")
    }
  }

  @Test("a configuration that names another place, where nothing is, is told with both: credentialMissing")
  func otherPlace() async throws {
    try await TestEnvironment.session { environment, sandbox, daemon in
      let elsewhere = "\(environment.folder)/elsewhere.json"
      try daemon.stop()
      try daemon.configure(Configuration.oidc(sandbox, "credential_file = \"\(elsewhere)\""))
      try daemon.start()
      for _ in 1...2 {
        let status = try daemon.waitFor("reauthRequired", "credentialMissing")
        #expect(status.message.contains(elsewhere) && status.message.contains(daemon.credential()))
        try daemon.restart()
      }
    }
  }

  @Test("a lifetime that had run out before the start by the clock of this machine ends nothing: the provider is asked")
  func runOutBeforeTheStart() async throws {
    try await TestEnvironment.run { environment in
      let sandbox = try environment.sandbox()
      let daemon = try Daemon(on: environment, configuration: Configuration.oidc(sandbox))
      try Files.makeFolder(daemon.state)
      try Files.makeFolder(daemon.credentials)
      var text = CredentialText.grant(try sandbox.grant(), of: sandbox, lifetime: -10)
      text = text.replacing(#""refreshExpiresAt":null"#, with: #""refreshExpiresAt":"2026-01-01T00:00:00Z""#)
      try Files.write(text, to: daemon.credential())
      try daemon.start()
      try daemon.waitUntil("it is refreshed") { $0.state == "authenticated" && $0.token?.health == "fresh" }
    }
  }

  @Test("a token that nothing can renew ends it when it has run out: noRefreshToken")
  func noRefreshToken() async throws {
    try await TestEnvironment.session(signsIn: false) { _, sandbox, daemon in
      try whileTokenLives(for: 2) { lifetime in
        let grant = try sandbox.grant(lifetime: Double(lifetime))
        let token: JSONObject = [
          "account": "work", "accessToken": .string(grant.accessToken), "expiresIn": JSON(lifetime), "replace": true,
        ]
        return try daemon.call("session.import", token)["state"] == "authenticated"
      }
      try daemon.waitFor("reauthRequired", "noRefreshToken")
    }
  }
}
