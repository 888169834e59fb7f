import ArgumentParser
import Glibc
import HearthCore
import TestSupport
import Testing

@testable import hearthctl

@Suite struct AccountKeysTests {
  @Test("every option is written as a key that the daemon knows")
  func known() throws {
    // Every option, in whatever combination.
    let options = Mirror(reflecting: AccountKeys()).children.compactMap(\.label).map { label in
      "--" + label.dropFirst().reduce("") { $0 + ($1.isUppercase ? "-" + $1.lowercased() : String($1)) }
    }
    #expect(options.contains("--client-secret-file") && options.count > 20)
    let line = options.flatMap { [$0, $0 == "--redirect-port" ? "8080" : $0.hasSuffix("parameter") ? "a=b" : "/x"] }
    let name = try #require(AccountName("work"))
    let table = try AccountKeys.parse(line).table(name, secretFile: nil)
    #expect(table.entries.count == options.count)
    let folder = TemporaryFolder()
    try Files.write(try table.text(), to: folder.file("config.toml"))
    let refusal = #expect(throws: DaemonProgram.Refusal.self) {
      try DaemonProgram.find().accounts(of: folder.file("config.toml"))
    }
    let sentence = refusal?.sentence ?? "unknown key"
    #expect(!sentence.contains("unknown key"), "\(sentence)")
  }

  @Test(
    "what is written as in the file is refused, before anything is",
    arguments: [
      ["authorization_parameters", "{ acr_values = \"x\" }"], ["scopes", "[\"openid\"]"],
      ["authorization_parameters", "prompt=login", "{acr_values=x}"],
    ])
  func asInTheFile(values: [String]) {
    #expect(throws: (any Error).self) { try AccountSetVerb.parse(["work"] + values) }
    #expect(throws: ValidationError.self) { try AccountKeys.pairs(["{ acr_values = \"x\" }"], "--token-parameter") }
  }

  @Test("paths are absolute, scopes may come in one word, and an issuer is one of OpenID Connect")
  func forms() throws {
    let name = try #require(AccountName("work"))
    let keys = try AccountKeys.parse([
      "--issuer", "https://x.example", "--client-secret-file", "./a/b", "--key-file", "~/k", "--scope", "a b",
      "--scope",
      "c", "--token-parameter", "audience=x=y",
    ])
    let text = try keys.table(name, secretFile: nil).text()
    #expect(text.contains("type = \"oidc\"\n") && text.contains("scopes = [\"a\", \"b\", \"c\"]\n"))
    #expect(text.contains("key_file = \"~/k\"\n") && text.contains("token_parameters = { audience = \"x=y\" }\n"))
    let file = text.split(separator: "\n").first { $0.hasPrefix("client_secret_file") } ?? ""
    #expect(file.hasPrefix("client_secret_file = \"/") && file.hasSuffix("/a/b\"") && !file.contains("/./"))
  }

  @Test("a client's secret file may be Google's client JSON; one without a secret is refused at once")
  func secretFiles() throws {
    let folder = TemporaryFolder()
    let file = folder.file("client_secret.json")
    func check(_ text: String) throws {
      try Files.write(text, to: file)
      chmod(file, 0o600)
      try AccountKeys.parse(["--provider", "google", "--client-secret-file", file]).checkFiles()
    }
    for text in [#"{"installed":{"client_id":"c","client_secret":"s"}}"#, "s3cret\n", "\u{FEFF}s3cret\r\n"] {
      #expect(throws: Never.self) { try check(text) }
    }
    let refusal = #expect(throws: CommandFailure.self) { try check(#"{"type":"external_account"}"#) }
    #expect(
      refusal?.message == "\(file) is JSON, not a secret, and contains no client_secret. Nothing was written.")
  }
}
