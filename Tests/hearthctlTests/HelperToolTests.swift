import HearthControl
import HearthCore
import TestSupport
import Testing

@testable import hearthctl

/// `hearthctl helper` in an empty home.
@Suite("Setting up other programs", .timeLimit(.minutes(1))) struct HelperToolTests {
  /// A home folder with a daemon, whose account `work` may send its token to x.example.com.
  private final class Home {
    let folder = TemporaryFolder()
    var environment: [String: String] = [:]
    private let daemon: FakeDaemon

    init() {
      daemon = FakeDaemon(path: folder.file("rpc.sock")) { request in
        switch request.method {
        case ListSessions.name: .result(["sessions": [Samples.session("work").json]])
        case ChooseAccount.name: .result(["account": "work", "reason": "only", "accounts": ["work"]])
        case _ where request.params["url"]?.string?.contains("x.example.com") == true:
          .result([
            "account": "work", "accessToken": "secret", "tokenType": "Bearer",
            "expiresAt": "2036-11-21T11:00:00.000Z", "fingerprint": "9f86d081", "subject": nil, "issuer": nil,
          ])
        default: .error(RPCError(.originNotAllowed, message: "It goes nowhere else."))
        }
      }
    }

    func run(_ words: String...) async throws -> Program.Outcome { try await run(words) }

    /// What it prints.
    func done(_ words: String...) async throws -> String {
      let outcome = try await run(words)
      #expect(outcome.status == 0, "\(words): \(outcome.errors)\(outcome.output)")
      return outcome.output
    }

    private func run(_ words: [String]) async throws -> Program.Outcome {
      let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
      return try await Program.run(
        ["helper"] + words,
        environment: [
          "HOME": folder.path, "HEARTH_SOCKET": daemon.path,
          "PATH": "\(ChildProcess.binaries):/\(root)/etc:/usr/bin:/bin",
        ].merging(environment) { $1 })
    }
  }

  private static let server = "https://x.example.com/"
  private static func makeFolders(_ name: String, in home: Home) throws {
    var folder = home.folder.path
    for part in name.split(separator: "/").dropLast() {
      folder += "/\(part)"
      try Files.makeFolder(folder)
    }
  }

  private static let written = HelperTool.all.filter { !$0.parts.isEmpty }.map(\.name)

  @Test("what is installed is listed, and gone without a trace once it is removed", arguments: written)
  func roundTrip(tool: String) async throws {
    let home = Home()
    let said = try await home.done("install", tool, "--for", Self.server)
    #expect(said.contains("Changed \(home.folder.path)/"))
    let helper = try HelperTool.named(tool)
    #expect(try await home.done("install", tool, "--for", Self.server).contains("\(tool) is already set up."))
    let list = try JSON(parsing: Array(try await home.done("list", "--json").utf8))
    let rows = list["helpers"]?.array?.filter { $0["setUp"]?.array?.isEmpty == false } ?? []
    #expect(rows.map { $0["tool"]?.string } == [tool])
    let target = try HelperTarget(account: "work", url: Self.server)
    let files = helper.parts.map { $0.file.path(target).replacing(target.filled("{home}"), with: home.folder.path) }
    #expect(files.allSatisfy { !Files.text($0).isEmpty })
    _ = try await home.done("remove", tool)
    for file in files { #expect(["", "{}\n"].contains(Files.text(file)), "\(file)") }
    #expect(try await home.done("remove", tool).contains("There are no settings to remove for \(tool)."))
  }

  @Test("go's settings are in the folder that XDG_CONFIG_HOME names")
  func configurationFolder() async throws {
    let home = Home()
    home.environment["XDG_CONFIG_HOME"] = home.folder.file("settings")
    _ = try await home.done("install", "go", "--for", Self.server)
    #expect(Files.text(home.folder.file("settings/go/env")).contains("GOAUTH="))
  }

  @Test("what is somebody's own is neither replaced nor removed", arguments: written)
  func somebodysOwn(tool: String) async throws {
    let home = Home()
    let own = [
      "git": (".gitconfig", "[credential \"https://x.example.com\"]\n\thelper = store\n"),
      "docker": (".docker/config.json", #"{"credHelpers": {"x.example.com": "pass"}}"#),
      "pnpm": (".npmrc", "//x.example.com/:_authToken=own\n"),
      "terraform": (".terraformrc", "credentials_helper \"own\" {}\n"), "go": (".config/go/env", "GOAUTH=netrc\n"),
      "bazel": (".bazelrc", "common --credential_helper=x.example.com=own\n"),
      "claude": (".claude/settings.json", #"{"apiKeyHelper": "own-program"}"#),
      "codex": (".codex/config.toml", "[model_providers.hearth-work]\nname = \"own\"\n"),
    ]
    let (name, text) = try #require(own[tool], "a tool that is not tried")
    let file = home.folder.file(name)
    try Self.makeFolders(name, in: home)
    try Files.write(text, to: file)
    let refused = try await home.run("install", tool, "--for", Self.server)
    #expect(refused.status == 1 && refused.errors.contains(file) && refused.errors.contains("--print"))
    _ = try await home.done("remove", tool)
    #expect(Files.text(file) == text)
    #expect(
      !Files.exists(home.folder.file(".local/bin/hearth-token-work")), "one part is not written without the other")
  }

  @Test(
    "what is in the way is named but not printed, since it may be a secret",
    arguments: [
      ("pnpm", ".npmrc", "save-exact=true\n//x.example.com/:_authToken=hunter2\n", "Line 2 of "),
      ("claude", ".claude/settings.json", #"{"apiKeyHelper": "echo hunter2"}"#, "already sets apiKeyHelper to another"),
    ])
  func secret(tool: String, name: String, text: String, place: String) async throws {
    let home = Home()
    try Self.makeFolders(name, in: home)
    try Files.write(text, to: home.folder.file(name))
    let refused = try await home.run("install", tool, "--for", Self.server)
    #expect(refused.status == 1 && refused.errors.contains(place) && refused.errors.contains("--print"))
    #expect(!(refused.errors + refused.output).contains("hunter2"))
  }

  @Test("a line that git config wrote for Hearth is listed, makes installing unnecessary, and is never removed")
  func ownLines() async throws {
    let home = Home()
    let file = home.folder.file(".gitconfig")
    let own = """
      [credential "https://x.example.com"]
      \thelper = !hearthctl credential git
      [credential "https://y.example.com/notes"]
      \thelper = !hearthctl credential git --account work
      [credential "https://z.example.com"]
      \thelper = store

      """
    try Files.write(own, to: file)
    let list = try JSON(parsing: Array(try await home.done("list", "--json").utf8))
    let git = list["helpers"]?.array?.first { $0["tool"] == "git" }
    #expect(git?["setUp"] == ["https://x.example.com", "work https://y.example.com/notes"])
    #expect(try await home.done("install", "git", "--for", Self.server).contains("git is already set up."))
    #expect(try await home.run("install", "git", "work", "--for", Self.server).status == 1, "it has no account")
    #expect(try await home.run("install", "git", "--for", "https://z.example.com").status == 1)
    #expect(try await home.done("remove", "git").contains("There are no settings to remove for git."))
    #expect(Files.text(file) == own)
    _ = try await home.done("install", "git", "--for", "https://w.example.com")
    #expect(Files.text(file).hasPrefix(own))
  }

  @Test("other lines and members stay, and so do other servers")
  func others() async throws {
    let home = Home()
    let file = home.folder.file(".gitconfig")
    try Files.write("[user]\n\tname = Ada", to: file)
    _ = try await home.done("install", "git", "--for", Self.server)
    _ = try await home.done("install", "git", "work", "--for", "https://y.example.com")
    #expect(
      Files.text(file) == """
        [user]
        \tname = Ada
        # >>> hearthctl helper: git https://x.example.com/
        [credential "https://x.example.com"]
          helper =
          helper = !hearthctl credential git
        # <<< hearthctl helper: git
        # >>> hearthctl helper: git work https://y.example.com
        [credential "https://y.example.com"]
          helper =
          helper = !hearthctl credential git --account work
        # <<< hearthctl helper: git

        """)
    _ = try await home.done("remove", "git", "--for", "https://x.example.com")
    #expect(Files.text(file).contains("y.example.com") && !Files.text(file).contains("x.example.com"))
    _ = try await home.done("remove", "git")
    #expect(Files.text(file) == "[user]\n\tname = Ada\n")

    let settings = home.folder.file(".claude/settings.json")
    try Self.makeFolders(".claude/settings.json", in: home)
    try Files.write(#"{"model": "m", "hooks": {"a": []}}"#, to: settings)
    _ = try await home.done("install", "claude", "--for", Self.server)
    let json = try JSON(parsing: Array(Files.text(settings).utf8))
    #expect(json["model"] == "m" && json["hooks"]?["a"] == [])
    #expect(json["apiKeyHelper"]?.string == "hearthctl token work --min-valid 300 --for https://x.example.com/")
  }

  @Test(
    "check asks as the tool would, and shows no token",
    arguments: HelperTool.all.filter { $0.asks != nil && $0.name != "git" }.map(\.name))
  func check(tool: String) async throws {
    let home = Home()
    _ = try await home.done("install", tool, "--for", Self.server)
    // What the daemon writes.
    try Files.write("machine x.example.com login oauth2 password secret\n", to: home.folder.file(".netrc"))
    let said = try await home.done("check", tool, "--for", Self.server)
    #expect(said.contains("Received the token 9f86d081 of work") && !said.contains("secret"), "\(said)")
    let other = try await home.run("check", tool, "--for", "https://elsewhere.example.com/")
    #expect(other.status == 1 && other.output.contains("api_origins"), "\(other.output)")
  }

  @Test("check without a server asks for all that is set up, and fails if nothing is")
  func checkAll() async throws {
    let home = Home()
    let nothing = try await home.run("check", "bazel")
    #expect(nothing.status == 1 && nothing.errors.contains("hearthctl helper install bazel"))
    _ = try await home.done("install", "bazel", "--for", Self.server)
    _ = try await home.done("install", "bazel", "--for", "https://elsewhere.example.com/")
    let both = try await home.run("check", "bazel")
    #expect(both.status == 1 && both.output.contains("9f86d081") && both.output.contains("api_origins"))
  }

  @Test("--print writes nothing, and an URL that a shell could misread is refused")
  func printed() async throws {
    let home = Home()
    let said = try await home.done("install", "terraform", "--for", Self.server, "--print")
    #expect(said.contains("credentials_helper \"hearth\" {}") && said.contains("exec hearthctl credential terraform"))
    #expect(!Files.exists(home.folder.file(".terraformrc")))
    for url in ["https://x.example.com/$(id)", "https://x.example.com/'", "https://"] {
      #expect(try await home.run("install", "claude", "--for", url).status == 64, "\(url)")
    }
    let bare = try await home.done("install", "claude", "--for", "x.example.com", "--print")
    #expect(bare.contains("--for https://x.example.com"), "a server without a scheme is one with https")
    let account = try await home.run("install", "bazel", "work", "--for", Self.server)
    #expect(account.status == 64 && account.errors.contains("[[use]]"))
    #expect(try await home.run("install", "gti", "--for", Self.server).errors.contains("Did you mean \"git\"?"))
  }

  @Test("the page has a row for each tool, with its hook")
  func page() {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let page = Files.text("/\(root)/etc/docs/helpers.md").split(separator: "\n## ")
    let section = page.first { $0.hasPrefix("Set up by hearthctl") } ?? ""
    let rows = section.matches(of: /(?m)^\| `([a-z]+)` \| ([^|]+) \|/)
    let told = rows.map { "\($0.1) \($0.2.replacing("`", with: ""))" }
    #expect(told == HelperTool.all.map { "\($0.name) \($0.hook)" })
  }
}
