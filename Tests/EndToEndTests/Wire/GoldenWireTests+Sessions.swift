import TestSupport
import Testing

extension GoldenWireTests {
  @Test("the session's methods, from before the first sign-in to after signing out")
  func sessions() async throws {
    try await WireScene.play("session", Self.oidc) { scene in
      let work = #"{"account":"work"}"#
      let reads = "session.get \(work)\nsession.list\nsession.getToken \(work)\nsession.refresh \(work)\n"
      let others = """
        session.reportUnauthorized {"account":"work","fingerprint":"0123abcd"}
        session.rehydrate
        session.rehydrate \(work)
        """
      try scene.wait(for: "neverSignedIn")
      try scene.calls("never signed in", reads + others)
      try scene.call("never signed in", "session.signOut", work)
      try scene.calls(
        "locked by the user, never signed in", "session.lock\nsession.lock \(work)\nsession.unlock \(work)")

      let first = try scene.sandbox.refreshToken()
      try scene.call("signed in", "session.import", #"{"account":"work","refreshToken":"\#(first)"}"#)
      let answer = try scene.call("signed in", "session.getToken", work)
      let fingerprint = try RawLink.text("fingerprint", in: answer)
      try scene.calls(
        "signed in",
        """
        session.get \(work)
        session.list
        session.choose
        session.choose {"url":"\(scene.sandbox.url)/notes","directories":["/home/ada"]}
        session.getToken {"account":"work","minValiditySeconds":0}
        session.getToken {"account":"work","minValiditySeconds":60}
        session.getToken {"account":"work","minValiditySeconds":null}
        session.getToken {"account":"work","url":"\(scene.sandbox.url)/notes"}
        session.getToken {"account":"work","url":"https://elsewhere.example.com/"}
        session.getToken {"account":"work","url":"elsewhere"}
        session.getToken {"account":"work","url":7}
        session.diagnose \(work)
        session.reportUnauthorized {"account":"work","fingerprint":"0123abcd"}
        session.rehydrate
        session.unlock
        session.refresh \(work)
        session.get \(work)
        session.reportUnauthorized {"account":"work","fingerprint":"\(fingerprint)"}
        """)
      let access = try scene.sandbox.accessToken()
      try scene.call(
        "with an access token alone", "session.import",
        #"{"account":"work","accessToken":"\#(access)","expiresIn":3600,"replace":true}"#)
      try scene.call("with an access token alone", "session.refresh", work)
      let whole = try scene.sandbox.tell("POST", "/__grant", #"{"subject":"2482"}"#)
      let tokens = try ["access_token", "refresh_token", "id_token"].map { try RawLink.text($0, in: whole) }
      try scene.call(
        "with all tokens", "session.import",
        #"{"account":"work","refreshToken":"\#(tokens[1])","accessToken":"\#(tokens[0])","idToken":"\#(tokens[2])"}"#)

      try scene.call("locked by the user", "session.lock", work)
      try scene.calls("locked by the user", reads + others)
      let second = try scene.sandbox.refreshToken()
      try scene.call("locked by the user", "session.import", #"{"account":"work","refreshToken":"\#(second)"}"#)
      try scene.calls("unlocked", "session.unlock \(work)\nsession.unlock")

      try scene.fault(#"{"path":"/token","status":503,"headers":{"Retry-After":"7"},"times":1}"#)
      try scene.call(
        "the provider cannot be asked", "session.import", #"{"account":"work","refreshToken":"\#(second)"}"#)
      try scene.fault(#"{"path":"/token","status":401,"body":"{\"error\":\"invalid_client\"}","times":1}"#)
      try scene.call("it refuses the client", "session.import", #"{"account":"work","refreshToken":"\#(second)"}"#)
      try scene.call("an unknown token", "session.import", #"{"account":"work","refreshToken":"unknown"}"#)
      try scene.call("the session before it stays", "session.get", work)

      try scene.sandbox.tell("POST", "/__revoke", "{}")
      try scene.calls("the refresh token is refused", "session.refresh \(work)\n" + reads + others)
      try scene.signIn()
      try scene.call("signed in again", "session.get", work)
      try scene.call("signed out", "session.signOut", work)
      try scene.calls("signed out", reads + others)
      try scene.call("signed out again", "session.signOut", work)
      try scene.signIn()
      try scene.call("not revoked", "session.signOut", #"{"account":"work","revoke":false,"outbox":"keep"}"#)
      try scene.signIn()
      try scene.sandbox.stop()
      try scene.call("offline", "session.signOut", #"{"account":"work","revoke":true,"outbox":"discard"}"#)
    }
  }

  @Test("a provider that cannot be reached, or refuses the configuration")
  func refreshUnavailable() async throws {
    let slow = { (sandbox: Sandbox) in Self.oidc(sandbox) + "[refresh]\nbackoff_initial = \"5m\"\n" }
    try await WireScene.play("session-refresh-unavailable", slow) { scene in
      let work = #"{"account":"work"}"#
      try scene.signIn()
      func refresh(_ what: String) throws {
        try scene.call(what, "session.refresh", work)
        try scene.call(what, "session.get", work)
      }
      let faults = [
        ("503", #""status":503"#),
        ("a configuration that it refuses", #""status":400,"body":"{\"error\":\"unauthorized_client\"}""#),
        (
          "an error that nobody knows",
          #""status":400,"body":"{\"error\":\"unheard_of\",\"error_description\":\"No such luck.\"}""#
        ),
        ("a page", #""status":200,"body":"<html>","contentType":"text/html""#),
      ]
      for (what, fault) in faults {
        try scene.clearFaults()
        try scene.fault(#"{"path":"/token",\#(fault)}"#)
        try refresh(what)
      }
      try scene.call("a token is still served", "session.getToken", work)
      try scene.sandbox.stop()
      try refresh("nobody listens there")
      try scene.sandbox.start()
      try scene.clearFaults()
      try scene.fault(#"{"path":"/token","status":429,"headers":{"Retry-After":"900"}}"#)
      try refresh("not before 15 minutes have passed")
      try refresh("asked again, it is not sent")
    }
  }

  @Test("the parameters of the session's methods")
  func sessionParameters() async throws {
    try await WireScene.play("session-parameters", Self.oidc) { scene in
      try scene.wait(for: "neverSignedIn")
      let needAccount = ["get", "getToken", "reportUnauthorized", "refresh", "import", "beginSignIn", "signOut"]
      for name in needAccount {
        let method = "session." + name
        let rest =
          name == "reportUnauthorized"
          ? #","fingerprint":"0123abcd""# : name == "beginSignIn" ? #","flow":"device""# : ""
        try scene.calls(
          "the account",
          """
          \(method)
          \(method) {"account":null}
          \(method) {"account":7}
          \(method) {"account":"nobody"\(rest)}
          \(method) {"account":"../work"\(rest)}
          \(method) {"account":"work"\(rest),"flavour":1}
          """)
      }
      for name in ["rehydrate", "lock", "unlock"] {
        let method = "session." + name
        try scene.calls(
          "the account, which may be absent",
          """
          \(method) {"account":7}
          \(method) {"account":"nobody"}
          \(method) {"flavour":1}
          \(method) {"account":null}
          """)
      }
      try scene.calls(
        "the others",
        """
        session.list {"account":"work"}
        session.choose {"account":"work"}
        session.choose {"url":"elsewhere"}
        session.choose {"url":7}
        session.choose {"directories":"/home/ada"}
        session.getToken {"account":"work","minValiditySeconds":"60"}
        session.getToken {"account":"work","minValiditySeconds":1.5}
        session.getToken {"account":"work","minValiditySeconds":-1}
        session.getToken {"account":"work","minValiditySeconds":2147483648}
        session.reportUnauthorized {"account":"work"}
        session.reportUnauthorized {"account":"work","fingerprint":7}
        session.reportUnauthorized {"account":"work","fingerprint":"0123ABCD"}
        session.import {"account":"work","idToken":"a.b.c"}
        session.import {"account":"work","refreshToken":""}
        session.import {"account":"work","refreshToken":7}
        session.import {"account":"work","refreshToken":"a\\nb"}
        session.import {"account":"work","accessToken":"a b"}
        session.import {"account":"work","accessToken":"a","expiresIn":-1}
        session.import {"account":"work","accessToken":"a","expiresIn":"1h"}
        session.import {"account":"work","accessToken":"a","expiresIn":2147483648}
        session.import {"account":"work","accessToken":"a","replace":"yes"}
        session.beginSignIn {"account":"work"}
        session.beginSignIn {"account":"work","flow":7}
        session.beginSignIn {"account":"work","flow":"carrier pigeon"}
        session.beginSignIn {"account":"work","flow":"device","replace":1}
        session.beginSignIn {"account":"work","flow":"password","username":"a","password":"b"}
        session.beginSignIn {"account":"work","flow":"client-credentials"}
        session.awaitSignIn
        session.awaitSignIn {"signIn":7}
        session.awaitSignIn {"signIn":"s-1"}
        session.awaitSignIn {"signIn":"s-1","account":"work"}
        session.cancelSignIn
        session.cancelSignIn {"signIn":7}
        session.cancelSignIn {"signIn":"s-1"}
        session.signOut {"account":"work","revoke":"no"}
        session.signOut {"account":"work","outbox":"burn"}
        session.signOut {"account":"work","outbox":7}
        session.unlock {"passphrase":""}
        session.unlock {"account":"work","passphrase":7}
        session.unlock {"account":"work","passphrase":"open sesame"}
        session.unlock {"passphrase":"open sesame"}
        """)
      let long = String(repeating: "a", count: 131_073)
      let answer = try scene.link.ask("session.import", #"{"account":"work","refreshToken":"\#(long)"}"#)
      scene.note("a refresh token of 131,073 characters", answer: answer)
    }
  }

  @Test("a credential under a passphrase")
  func passphrase() async throws {
    try await WireScene.play("session-passphrase", { Configuration.oidc($0, "protection = \"passphrase\"") }) { scene in
      let work = #"{"account":"work"}"#
      try scene.wait(for: "neverSignedIn")
      let token = try scene.sandbox.refreshToken()
      let bring = #"session.import {"account":"work","refreshToken":"\#(token)"}"#
      let open = #"session.unlock {"account":"work","passphrase":"open sesame"}"#
      try scene.calls("none is set yet", "session.unlock \(work)\nsession.unlock\n\(bring)\nsession.get \(work)")
      try scene.calls("it is set", "\(open)\nsession.unlock \(work)\n\(bring)\nsession.get \(work)")
      try scene.restart()
      try scene.wait(for: "passphraseRequired")
      try scene.calls(
        "after a restart",
        """
        session.get \(work)
        session.getToken \(work)
        session.refresh \(work)
        session.unlock \(work)
        session.unlock
        session.unlock {"account":"work","passphrase":"open"}
        \(open)
        session.get \(work)
        """)
    }
  }

  @Test("an account that signs in by itself")
  func clientCredentials() async throws {
    let configuration = { (sandbox: Sandbox) in
      """
      [accounts.work]
      type = "client-credentials"
      token_endpoint = "\(sandbox.url)/token"
      client_id = "robot"

      """
    }
    try await WireScene.play("session-client-credentials", configuration) { scene in
      let work = #"{"account":"work"}"#
      let begin = #"{"account":"work","flow":"client-credentials"}"#
      try scene.wait(for: #""lastResult":"success""#)
      try scene.calls(
        "nobody is needed",
        """
        session.get \(work)
        session.getToken \(work)
        session.signOut \(work)
        session.getToken \(work)
        session.beginSignIn {"account":"work","flow":"client-credentials","username":"a"}
        """)
      let begun = try scene.call("nobody is needed", "session.beginSignIn", begin)
      let signIn = #"{"signIn":"\#(try RawLink.text("signIn", in: begun))"}"#
      try scene.calls(
        "it is over already",
        """
        session.awaitSignIn \(signIn)
        session.cancelSignIn \(signIn)
        session.awaitSignIn {"signIn":"client-credentials/work"}
        session.lock \(work)
        session.beginSignIn \(begin)
        session.beginSignIn {"account":"work","flow":"client-credentials","replace":true}
        """)
    }
  }

  @Test("credentials that are gone, away, corrupt, too new, or at their end")
  func ends() async throws {
    let names = ["away", "corrupt", "end", "gone", "new"]
    let configuration = { (sandbox: Sandbox) in
      names.map { name in
        Configuration.oidc(
          sandbox, account: name, name == "away" ? "credential_file = \"~/volume/away.json\"" : "")
      }.joined()
    }
    try await WireScene.play("session-ends", configuration) { scene in
      let volume = "\(scene.environment.folder)/volume"
      try Files.makeFolder(volume)
      for name in names { try scene.signIn(name) }
      try scene.restart {
        try Files.move(volume, to: volume + ".away")
        try Files.write("{\"version\":1,", to: scene.daemon.credential("corrupt"))
        try Files.remove(scene.daemon.credential("gone"))
        try Files.write(#"{"version":99,"account":"new"}"#, to: scene.daemon.credential("new"))
      }
      try scene.wait("session.get", #"{"account":"away"}"#, for: "volumeUnavailable")
      try scene.wait("session.get", #"{"account":"end"}"#, for: #""state":"authenticated""#)
      for name in names where !["away", "end"].contains(name) {
        try scene.wait("session.get", #"{"account":"\#(name)"}"#, for: "reauthRequired")
      }
      try scene.call("after a restart", "session.list")
      for name in names where name != "end" {
        try scene.call("no token is to be had", "session.getToken", #"{"account":"\#(name)"}"#)
      }
      for what in ["a 401 to the current token", "another to the new one"] {
        let token = try scene.call(what, "session.getToken", #"{"account":"end"}"#)
        let fingerprint = try RawLink.text("fingerprint", in: token)
        try scene.call(what, "session.reportUnauthorized", #"{"account":"end","fingerprint":"\#(fingerprint)"}"#)
      }
      let access = try scene.sandbox.accessToken()
      try scene.call(
        "nothing can renew it", "session.import", #"{"account":"end","accessToken":"\#(access)","expiresIn":8}"#)
      try scene.wait("session.get", #"{"account":"end"}"#, for: "noRefreshToken")
      try scene.calls(
        "it has run out",
        """
        session.get {"account":"end"}
        session.getToken {"account":"end"}
        session.refresh {"account":"end"}
        """)
      try scene.call("still away", "session.rehydrate", #"{"account":"away"}"#)
      try scene.checkLog("log-ends.txt")
    }
  }
}
