import ArgumentParser
import Glibc
import HearthClient
import HearthControl
import HearthCore

struct AccountAddVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add an account to the configuration, try its provider, and offer to sign in.",
    discussion: """
      The configuration is checked before anything is written, its comments and its order stay, and the file before is \
      kept beside it as config.toml.bak. For example:

        hearthctl account add work --provider google \\
          --client-id ID --client-secret-file ~/google.secret
        hearthctl account add work --issuer https://id.example.com \\
          --client-id hearth --api-origin https://api.example.com
        hearthctl account add robot --type client-credentials \\
          --client-id robot --client-secret-stdin \\
          --token-endpoint https://login.example.org/token
        hearthctl account add mobile --type json \\
          --refresh-url https://backend.example.com/auth/refresh \\
          --login-url https://backend.example.com/auth/login
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var options: AccountOptions

  @Argument(help: "The account's name: up to 64 letters, digits, _ and -.")
  var account: String

  @OptionGroup var keys: AccountKeys

  @Flag(help: "Read the client's secret from standard input, and keep it in a file beside the configuration.")
  var clientSecretStdin = false

  @Flag(help: "Do not offer to sign in.")
  var noLogin = false

  func validate() throws {
    guard !clientSecretStdin || keys.clientSecretFile == nil else {
      throw ValidationError("--client-secret-stdin and --client-secret-file exclude each other.")
    }
  }

  mutating func run() throws {
    guard let account = AccountName(account) else {
      throw ValidationError(
        "\"\(account)\" cannot name an account: a name has up to 64 letters, digits, _ and -, the first a letter or digit."
      )
    }
    let setting = try AccountSetting(options, daemonOptions)
    let file = setting.file
    try keys.check(with: file.program, hasSecret: clientSecretStdin || keys.clientSecretFile != nil)
    try keys.checkFiles()
    let secret = try clientSecretStdin ? SecretFile(for: account, beside: file.path) : nil
    let table = try keys.table(account, secretFile: secret?.path)
    let kept = try secret.writing { try file.add(table, of: account, accept: $0) }
    try report(account, file, kept, secret, setting.isServed)
  }

  /// What has become of it, and what comes next.
  private func report(
    _ account: AccountName, _ file: AccountFile, _ kept: String?, _ secret: SecretFile?, _ isServed: Bool?
  ) throws {
    let output = daemonOptions.output
    var lines = ["Added \(account) to \(file.path)" + (kept.map { "; the file before is \($0)." } ?? ".")]
    if let secret { lines.append("The client's secret is in \(secret.path).") }
    let reload = try reload(account, isServed)
    lines.append(reload.sentence)
    let endpoints: DaemonProgram.Endpoints?
    let trouble: String?
    do {
      (endpoints, trouble) = (try file.program.discover(account, in: file.path), nil)
    } catch let refusal as DaemonProgram.Refusal {
      (endpoints, trouble) = (nil, refusal.sentence)
    }
    lines += endpoints?.sentence.map { [$0] } ?? []
    lines.append(
      keys.apiOrigin.isEmpty
        ? "Hearth itself sends its token nowhere yet: \"hearthctl account set \(account) --add api_origins URL\" names an API."
        : "Hearth itself sends its token to \(keys.apiOrigin.joined(separator: ", ")) alone.")
    let next = keys.type == "client-credentials" ? "token" : "login"
    output.show([
      "account": .string(account.description), "configuration": .string(file.path), "kept": JSON(kept),
      "reloaded": .bool(reload.isDone), "endpoints": endpoints?.json ?? .null, "error": JSON(trouble),
      "next": "hearthctl \(next) \(account)",
    ]) { lines.joined(separator: "\n") }
    if let trouble { Output.note("The provider could not be tried: \(trouble)") }
    guard !output.isJSON else { return }
    guard reload.isDone, trouble == nil, next == "login", !noLogin, Input.isTerminal,
      try Self.agrees("Sign in now? [Y/n] ", or: true)
    else {
      return output.line("Next: hearthctl \(next) \(account)")
    }
    try signIn(to: account)
  }

  private func reload(_ account: AccountName, _ isServed: Bool?) throws -> (isDone: Bool, sentence: String) {
    guard let isServed, var daemon = try daemonOptions.connectIfRunning() else {
      return (
        false,
        "No daemon runs: start it with \"systemctl --user enable --now hearthd.service hearthd.socket\", or run hearthd."
      )
    }
    guard isServed else { return (false, "The daemon that runs uses another configuration, and was told nothing.") }
    do throws(ControlClient.Failure) {
      _ = try daemon.call(ReloadConfiguration())
      _ = try daemon.call(GetSession(account))
      return (true, "The daemon has read it in.")
    } catch {
      return (false, "The daemon that runs does not serve it: \(error.description)")
    }
  }

  private func signIn(to account: AccountName) throws {
    var login = try LoginVerb.parse([account.description])
    login.daemonOptions = daemonOptions
    try login.run()
  }

  /// Asks for a yes or a no on the terminal; `usual` is what an empty line says.
  static func agrees(_ question: String, or usual: Bool) throws -> Bool {
    guard let answer = try Input.answer(question) else { return false }
    return answer.isEmpty ? usual : ["y", "yes"].contains(answer.lowercased())
  }
}

extension DaemonProgram.Endpoints {
  /// What is said of them; nil where the account is of a kind that has none.
  fileprivate var sentence: String? {
    guard let token else { return nil }
    guard let discovery else { return "Its token endpoint is \(token)." }
    let ways = [hasBrowser ? "by browser" : nil, hasDevice ? "by a code for another device" : nil].compactMap(\.self)
    let flows = ways.isEmpty ? "no sign-in by browser or code" : "sign-in \(ways.joined(separator: " or "))"
    return "Discovery at \(discovery) works: token endpoint \(token), \(flows)."
  }
}
