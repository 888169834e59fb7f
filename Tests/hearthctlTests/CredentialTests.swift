import HearthControl
import HearthCore
import TestSupport
import Testing

@testable import hearthctl

@Suite("Helpers for other programs") struct CredentialTests {
  private static func answer(_ token: String) -> JSON {
    [
      "account": "work", "accessToken": .string(token), "tokenType": "Bearer", "expiresAt": "2026-11-21T11:00:00.000Z",
      "fingerprint": "9f86d081", "subject": nil, "issuer": nil,
    ]
  }

  /// A daemon with the accounts `home` and `work`, of which `work` may send its token to git.example.com alone.
  private func run(
    _ words: [String], input: String = "", environment: [String: String] = [:], token: String = "secret",
    refusal: RPCError? = nil
  ) async throws -> (Program.Outcome, asked: [Request]) {
    let daemon = FakeDaemon { request in
      if request.method == ChooseAccount.name {
        return .result(["account": nil, "reason": nil, "accounts": ["home", "work"]])
      }
      if request.method == "session.list" {
        return .result(["sessions": [Samples.session("home").json, Samples.session("work").json]])
      }
      let mayBeSent =
        request.params["account"]?.string == "work"
        && request.params["url"]?.string?.hasPrefix("https://git.example.com/") == true
      guard mayBeSent else {
        return .error(RPCError(.originNotAllowed, account: nil, message: "It goes nowhere else."))
      }
      return refusal.map { .error($0) } ?? .result(Self.answer(token))
    }
    let outcome = try await Program.run(
      ["credential"] + words, input: input, environment: ["HEARTH_SOCKET": daemon.path].merging(environment) { $1 })
    return (outcome, daemon.asked)
  }

  private let asked = "capability[]=authtype\nprotocol=https\nhost=git.example.com\npath=notes.git\n\n"

  @Test("git gets the token in place of a password, with its end, of the account that has the server among its origins")
  func git() async throws {
    let (outcome, requests) = try await run(["git", "get"], input: asked)
    #expect(outcome.output == "username=oauth2\npassword=secret\npassword_expiry_utc=1795258800\n")
    #expect(outcome.status == 0)
    #expect(
      requests.map(\.params) == [
        [:], requests[1].params, ["account": "home", "url": "https://git.example.com/"],
        ["account": "work", "url": "https://git.example.com/"],
      ])
  }

  @Test("git gets the name that it was told, and a bearer token where it asks for one")
  func gitForms() async throws {
    let named = try await run(["git", "--account", "work", "get"], input: "username=ada\n" + asked).0
    #expect(named.output.hasPrefix("username=ada\npassword=secret\n"))
    let bearer = try await run(["git", "--bearer", "get"], input: asked).0
    #expect(
      bearer.output
        == "capability[]=authtype\nauthtype=Bearer\ncredential=secret\nephemeral=1\npassword_expiry_utc=1795258800\n")
    let old = try await run(["git", "--bearer", "get"], input: "protocol=https\nhost=git.example.com\n").0
    #expect((old.status, old.output) == (1, ""))
  }

  @Test(
    "git gets nothing for another server, in another way than HTTP, or where it gives or forgets a password",
    arguments: [
      ("get", "protocol=https\nhost=elsewhere.example.com\n"), ("get", "protocol=ssh\nhost=git.example.com\n"),
      ("get", ""), ("store", "protocol=https\nhost=git.example.com\nusername=a\npassword=b\n"),
      ("erase", "protocol=https\nhost=git.example.com\nusername=a\npassword=secret\n"),
      ("approve", "protocol=https\nhost=git.example.com\n"),
      ("get", "protocol=https\nhost=git.example.com/elsewhere\n"), ("get", "protocol=https\nhost=git.example.com/?\n"),
      ("get", "protocol=https\nhost=git.example.com?elsewhere.example.com\n"),
      ("get", "protocol=https\nhost=elsewhere@git.example.com\n"), ("get", "protocol=https\nhost=\n"),
    ])
  func gitNothing(operation: String, input: String) async throws {
    let outcome = try await run(["git", operation], input: input).0
    #expect((outcome.status, outcome.output, outcome.errors) == (0, "", ""))
  }

  @Test("where the session has no token, git is told to ask nobody for a password, and why")
  func gitLocked() async throws {
    let locked = RPCError(.locked, account: AccountName("work"), message: "Locked. Run \"hearthctl unlock work\".")
    let outcome = try await run(["git", "get"], input: asked, refusal: locked).0
    #expect((outcome.status, outcome.output) == (4, "quit=1\n"))
    #expect(outcome.errors == "hearthctl: Locked. Run \"hearthctl unlock work\".\n")
  }

  @Test("docker gets the token as a secret, and what it takes for \"there is none\" for another registry")
  func docker() async throws {
    let (outcome, _) = try await run(["docker", "get"], input: "git.example.com\n")
    #expect(
      outcome.output == #"{"ServerURL":"git.example.com","Username":"oauth2accesstoken","Secret":"secret"}"# + "\n")
    let other = try await run(["docker", "get"], input: "https://index.docker.io/v1/").0
    #expect((other.status, other.output) == (1, "credentials not found in native keychain\n"))
    for server in [
      "git.example.com/elsewhere", "git.example.com?x", "git.example.com elsewhere.example.com",
      "elsewhere@git.example.com", "https://git.example.com#elsewhere.example.com", "git.example.com/#",
    ] {
      let nothing = try await run(["docker", "get"], input: server + "\n").0
      #expect((nothing.status, nothing.output) == (1, "credentials not found in native keychain\n"), "\(server)")
    }
    #expect(try await run(["docker", "list"]).0.output == "{}\n")
    #expect(try await run(["docker", "erase"], input: "git.example.com").0.status == 0)
    let store = try await run(["docker", "store"], input: "{}").0
    #expect(store.status == 1)
    #expect(store.output.contains("Sign in with \"hearthctl login\""))
  }

  private func info(_ server: String?, version: String = "v1") -> [String: String] {
    let cluster = server.map { #""cluster":{"server":"\#($0)"},"# } ?? ""
    return [
      "KUBERNETES_EXEC_INFO":
        #"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/\#(version)","spec":{\#(cluster)"interactive":false}}"#
    ]
  }

  @Test("kubectl gets an ExecCredential of the version that it asked for", arguments: ["v1", "v1beta1"])
  func kubectl(version: String) async throws {
    let outcome = try await run(
      ["kubectl"], environment: info("https://git.example.com/api", version: version)
    ).0
    #expect(
      outcome.output
        == #"{"apiVersion":"client.authentication.k8s.io/\#(version)","kind":"ExecCredential","status":"#
        + #"{"token":"secret","expirationTimestamp":"2026-11-21T11:00:00.000Z"}}"# + "\n")
  }

  @Test("a client that does not say its cluster is told it with --for; one that says it is believed")
  func kubectlFor() async throws {
    func run(_ environment: [String: String], for url: String = "https://git.example.com/") async throws -> Int32 {
      let outcome = try await self.run(["kubectl", "--for", url], environment: environment).0
      #expect(outcome.output.contains(#""token":"secret""#) == (outcome.status == 0))
      return outcome.status
    }
    #expect(try await run(info(nil)) == 0)
    #expect(try await run(info(nil, version: "v1beta1")) == 0)
    #expect(try await run([:]) == 0, "as the example in the help has it")
    #expect(try await run(info("https://elsewhere.example.com")) == 1, "the token would be sent there")
    #expect(try await run(info("https://git.example.com/api"), for: "https://elsewhere.example.com") == 0)
    #expect(try await run(info(nil), for: "https://elsewhere.example.com") == 1)
  }

  @Test("kubectl gets a sentence, and no token, where the cluster is another one or not known")
  func kubectlNothing() async throws {
    func refused(_ environment: [String: String]) async throws -> String {
      let outcome = try await run(["kubectl"], environment: environment).0
      #expect(outcome.output == "")
      #expect(outcome.status != 0)
      return outcome.errors
    }
    #expect(try await refused(info("https://elsewhere.example.com")).contains("api_origins"))
    #expect(try await refused(info(nil)).contains("provideClusterInfo: true"))
    #expect(try await refused(info("https://git.example.com/", version: "v9")).contains("v9"))
    #expect(try await refused([:]).contains("--for"))
    #expect(try await refused(["KUBERNETES_EXEC_INFO": "nonsense"]).contains("does not contain an ExecCredential"))
  }

  @Test("Google's libraries get an answer of the form that AIP-4117 names, of the token type that they want")
  func google() async throws {
    let type = "urn:ietf:params:oauth:token-type:"
    func run(_ environment: [String: String]) async throws -> Program.Outcome {
      try await self.run(
        ["google", "--for", "https://git.example.com/token"], environment: environment, token: "a.b.c"
      ).0
    }
    #expect(
      try await run([:]).output
        == #"{"version":1,"success":true,"token_type":"\#(type)id_token","id_token":"a.b.c","expiration_time":1795258800}"#
        + "\n")
    #expect(try await run(["GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE": type + "jwt"]).output.contains(type + "jwt"))
    let saml = try await run(["GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE": type + "saml2"])
    #expect(saml.status == 0 && saml.output.contains(#""success":false,"code":"usage""#))
  }

  @Test(
    "Google's libraries get no token of an account that may not send it to their token service, nor one that is no JWT")
  func googleNothing() async throws {
    let (outcome, requests) = try await run(["google"])
    #expect((outcome.status, outcome.errors) == (0, ""))
    #expect(outcome.output.contains(#""success":false"#) && outcome.output.contains("https://sts.googleapis.com"))
    #expect(requests.last?.params["url"] == "https://sts.googleapis.com/v1/token")
    let opaque = try await run(["google", "--for", "https://git.example.com/"]).0
    #expect((opaque.status, opaque.errors) == (0, ""))
    #expect(opaque.output.contains(#""success":false"#) && opaque.output.contains("bearer id_token"))
    #expect(!opaque.output.contains("secret"))
  }

  @Test("go gets the header of a server once that has refused a request, or at once if it was named")
  func goauth() async throws {
    let answer = "https://git.example.com\n\nAuthorization: Bearer secret\n\n"
    func run(_ words: String..., input: String = "") async throws -> Program.Outcome {
      let outcome = try await self.run(["goauth"] + words, input: input).0
      #expect((outcome.status, outcome.errors) == (0, ""))
      return outcome
    }
    #expect(try await run().output == "")
    let refused = try await run(
      "https://git.example.com/notes/@v/list", input: "HTTP/2.0 401 Unauthorized\nContent-Length: 3\n\n")
    #expect(refused.output == answer)
    #expect(try await run("--for", "https://git.example.com/").output == answer)
    let other = "https://elsewhere.example.com/notes"
    #expect(try await run(other).output == "")
    #expect(try await run("--for", "https://git.example.com/", other).output == "", "the token would be sent there")
    #expect(try await run("no URL").output == "")
  }

  @Test("Bazel gets the headers for a URI and their end, and no headers for another server")
  func bazel() async throws {
    let known = try await run(["bazel", "get"], input: #"{"uri": "https://git.example.com/cas", "more": 1}"#).0
    #expect(
      known.output
        == #"{"headers":{"Authorization":["Bearer secret"]},"expires":"2026-11-21T11:00:00.000Z"}"# + "\n")
    let other = try await run(["bazel", "get"], input: #"{"uri": "https://elsewhere.example.com/"}"#).0
    #expect((other.status, other.output) == (0, #"{"headers":{}}"# + "\n"))
    for input in ["", "{}", "https://git.example.com/"] {
      let unclear = try await run(["bazel", "get"], input: input).0
      #expect((unclear.status, unclear.output) == (64, ""))
      #expect(unclear.errors.contains(#"{"uri": "https://…"}"#))
    }
    let unknown = try await run(["bazel", "put"]).0
    #expect(unknown.status == 1 && unknown.errors.contains("put"))
  }

  @Test("terraform gets the token of a host, an empty object for another one, and is told that Hearth stores none")
  func terraform() async throws {
    #expect(try await run(["terraform", "get", "git.example.com"]).0.output == #"{"token":"secret"}"# + "\n")
    for host in ["elsewhere.example.com", "git.example.com/x", "ada@git.example.com"] {
      let other = try await run(["terraform", "get", host]).0
      #expect((other.status, other.output) == (0, "{}\n"), "\(host)")
    }
    for operation in ["store", "forget"] {
      let refused = try await run(["terraform", operation, "git.example.com"], input: #"{"token": "other"}"#).0
      #expect((refused.status, refused.output) == (1, ""))
      #expect(refused.errors.contains("hearthctl login"))
    }
  }

  @Test("token --headers json prints an object of headers, and nothing beside it")
  func headers() async throws {
    let daemon = FakeDaemon { _ in .result(Self.answer("secret")) }
    let environment = ["HEARTH_SOCKET": daemon.path]
    let outcome = try await Program.run(["token", "work", "--headers", "json"], environment: environment)
    #expect(outcome.output == #"{"Authorization":"Bearer secret"}"# + "\n")
    let both = try await Program.run(["token", "work", "--headers", "json", "--header"], environment: environment)
    #expect((both.status, both.output) == (64, ""))
  }

  @Test("token --for asks for a token that is to be sent there")
  func tokenFor() async throws {
    let daemon = FakeDaemon { _ in .result(Self.answer("secret")) }
    let outcome = try await Program.run(
      ["token", "work", "--for", "https://git.example.com/x"], environment: ["HEARTH_SOCKET": daemon.path])
    #expect(outcome.output == "secret\n")
    #expect(daemon.asked.map(\.params) == [["account": "work", "url": "https://git.example.com/x"]])
  }
}
