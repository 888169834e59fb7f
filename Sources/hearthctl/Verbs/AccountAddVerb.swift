import ArgumentParser
import Glibc
import HearthClient
import HearthControl
import HearthCore

struct AccountAddVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add an account to the configuration, check its provider, and offer to sign in.",
    discussion: """
      If you give an email address, Hearth asks the address's domain for its provider (WebFinger), or looks the domain \
      up in its own list. Hearth checks the configuration and the provider before it writes anything, preserves the \
      file's comments and order, and saves the previous file as config.toml.bak. For example:

        hearthctl account add ada@example.com --client-id hearth
        hearthctl account add work --issuer https://id.example.com --register
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

  @Argument(help: "The account's name (up to 64 letters, digits, _ and -), or your email address at the provider.")
  var account: String

  @Option(help: "The account's name if you give an email address (default: the first part of the domain).")
  var name: String?

  @OptionGroup var keys: AccountKeys

  @Flag(help: "Read the client's secret from standard input, and store it in a file beside the configuration.")
  var clientSecretStdin = false

  @OptionGroup var registration: RegistrationOptions

  @Flag(help: "Add the account without checking its provider.")
  var noCheck = false

  @Flag(help: "Do not ask whether to sign in.")
  var noLogin = false

  func validate() throws {
    guard !clientSecretStdin || keys.clientSecretFile == nil else {
      throw ValidationError("--client-secret-stdin cannot be combined with --client-secret-file.")
    }
    if registration.isAsked, keys.clientId != nil || clientSecretStdin {
      throw ValidationError(
        "--register cannot be combined with --client-id or --client-secret-stdin, because it registers a new client.")
    }
  }

  mutating func run() throws {
    let setting = try AccountSetting(options, daemonOptions)
    let file = setting.file
    let account = try named(file.program)
    let mayAsk = Input.isTerminal && !daemonOptions.json && !clientSecretStdin
    let registered = try registration.register(account, &keys, file, mayAsk: mayAsk && !noCheck)
    let hasAsked = try keys.check(
      with: file.program, hasSecret: clientSecretStdin || keys.clientSecretFile != nil || registered != nil,
      mayAsk: mayAsk)
    try keys.checkFiles()
    let secret: SecretFile? =
      try clientSecretStdin
      ? SecretFile.read(for: account, beside: file.path)
      : hasAsked ? SecretFile.asked(for: account, beside: file.path) : registered
    var table = try keys.table(account, secretFile: secret?.path)
    let trial: Trial = try noCheck ? (nil, nil) : tryProvider(of: account, &table, file)
    let kept = try secret.writing { write in try file.add(table, of: account) { _ in try write() } }
    try report(account, file, kept, secret, setting.isServed, trial)
  }

  /// Returns the account's name. If the user typed an email address and chose no provider, adds the address's provider
  /// to `keys`.
  private mutating func named(_ program: DaemonProgram) throws -> AccountName {
    guard account.contains("@") else {
      guard let account = AccountName(account), name == nil else {
        throw ValidationError(
          name != nil
            ? "--name requires an email address, but \"\(account)\" is already the account's name."
            : "\"\(account)\" is not a valid account name: a name has up to 64 letters, digits, _ and -, and begins "
              + "with a letter or digit.")
      }
      return account
    }
    let address = account
    let domain = String(address[address.index(after: address.lastIndex(of: "@")!)...])
    if keys.namesNoProvider {
      let found: (name: String?, issuer: String?)
      do {
        found = try program.provider(of: address)
      } catch let refusal as DaemonProgram.Refusal {
        throw CommandFailure(
          refusal.mayPass ? .later : .failed, "\(refusal.sentence) Use --provider or --issuer instead.")
      }
      if let name = found.name {
        keys.provider = name
        Output.note("The provider of \(address) is \(name).")
      } else if let issuer = found.issuer {
        keys.issuer = issuer
        Output.note("The issuer of \(domain) is \(issuer).")
      } else {
        throw CommandFailure(
          .failed,
          "\(domain) does not publish its provider (WebFinger) and is not a known email domain. Use --issuer, or "
            + "choose a --provider from \"hearthctl account providers\".")
      }
      // Let the provider fill in the address on its sign-in page (OpenID Connect Core, section 3.1.2.1).
      if keys.authorizationParameter.isEmpty { keys.authorizationParameter = ["login_hint=\(address)"] }
    }
    let derived = String(domain.prefix { $0 != "." && $0 != ":" })
    guard let account = AccountName(name ?? derived) else {
      throw ValidationError("\"\(name ?? derived)\" is not a valid account name. Choose a name with --name.")
    }
    return account
  }

  /// The result of contacting the provider before the configuration is changed: its endpoints, or the reason why it
  /// could not be reached if the user still wants to add the account.
  private typealias Trial = (endpoints: DaemonProgram.Endpoints?, trouble: String?)

  /// Contacts the provider. Adjusts the final slash of the issuer if the provider spells it differently. Throws if the
  /// account cannot work. If the provider does not answer, asks on a terminal whether to add the account anyway, and
  /// otherwise throws.
  private func tryProvider(of account: AccountName, _ table: inout TOMLTable, _ file: AccountFile) throws -> Trial {
    do {
      let endpoints = try file.trying(account, in: table) { try file.program.discover(account, in: $0) }
      if let issuer = endpoints.otherIssuer { table.replace("issuer", with: issuer) }
      return (endpoints, nil)
    } catch let refusal as DaemonProgram.Refusal {
      guard refusal.mayPass else { throw CommandFailure(.failed, "\(refusal.sentence) Nothing was written.") }
      let sentence = "Cannot check the provider: \(refusal.sentence)"
      guard Input.isTerminal, !daemonOptions.json else {
        throw CommandFailure(
          .later, "\(sentence) Nothing was written. To add the account anyway, use --no-check.")
      }
      Output.note(sentence)
      guard try Self.agrees("Add the account anyway? [y/N] ", or: false) else {
        throw CommandFailure(.later, "Nothing was written.")
      }
      return (nil, sentence)
    }
  }

  /// Reports the change, and offers to sign in or names the next command.
  private func report(
    _ account: AccountName, _ file: AccountFile, _ kept: String?, _ secret: SecretFile?, _ isServed: Bool?,
    _ trial: Trial
  ) throws {
    let output = daemonOptions.output
    var lines = ["Added \(account) to \(file.path)" + (kept.map { "; the previous file is saved as \($0)." } ?? ".")]
    if let secret { lines.append("The client's secret is in \(secret.path).") }
    let reload = try reload(account, isServed)
    lines.append(reload.sentence)
    if let issuer = trial.endpoints?.otherIssuer {
      lines.append("The provider spells its issuer \(issuer), so the account uses this spelling.")
    }
    lines += trial.endpoints?.sentence.map { [$0] } ?? []
    lines.append(
      keys.apiOrigin.isEmpty
        ? "Hearth does not send the account's token to any API yet. To allow one, run \"hearthctl account set "
          + "\(account) --add api_origins URL\"."
        : "Hearth sends the account's token only to \(keys.apiOrigin.joined(separator: ", ")).")
    let next = keys.type == "client-credentials" ? "token" : "login"
    output.show([
      "account": .string(account.description), "configuration": .string(file.path), "kept": JSON(kept),
      "reloaded": .bool(reload.isDone), "endpoints": trial.endpoints?.json ?? .null, "error": JSON(trial.trouble),
      "next": .string("hearthctl \(next) \(account)"),
    ]) { lines.joined(separator: "\n") }
    guard !output.isJSON else { return }
    guard reload.isDone, trial.trouble == nil, next == "login", !noLogin, Input.isTerminal,
      try Self.agrees("Sign in now? [Y/n] ", or: true)
    else {
      return output.line("Next: hearthctl \(next) \(account)")
    }
    var login = try LoginVerb.parse([account.description])
    login.daemonOptions = daemonOptions
    try login.run()
  }

  private func reload(_ account: AccountName, _ isServed: Bool?) throws -> (isDone: Bool, sentence: String) {
    guard let isServed, var daemon = try daemonOptions.connectIfRunning() else {
      return (
        false,
        "No daemon is running. Run \"systemctl --user enable --now hearthd.service hearthd.socket\", or run "
          + "\"hearthd\" if you do not use systemd."
      )
    }
    guard isServed else { return (false, "The running daemon uses another configuration, so it was not reloaded.") }
    do {
      _ = try daemon.call(ReloadConfiguration())
      _ = try daemon.call(GetSession(account))
      return (true, "The daemon has loaded the account.")
    } catch {
      return (false, "The running daemon could not load the account: \(error)")
    }
  }

  /// Asks a yes-or-no question on the terminal. `usual` is the answer for an empty line.
  static func agrees(_ question: String, or usual: Bool) throws -> Bool {
    guard let answer = try Input.answer(question) else { return false }
    return answer.isEmpty ? usual : ["y", "yes"].contains(answer.lowercased())
  }
}

extension DaemonProgram.Endpoints {
  /// A sentence about the endpoints, or `nil` if the account's type has no token endpoint.
  fileprivate var sentence: String? {
    guard let token else { return nil }
    guard let discovery else { return "Token endpoint: \(token)." }
    let ways = [hasBrowser ? "in a browser" : nil, hasDevice ? "with a code on another device" : nil].compactMap(\.self)
    let flows = ways.isEmpty ? "neither in a browser nor with a code" : ways.joined(separator: " or ")
    return "Discovery at \(discovery) works. Token endpoint: \(token). Sign-in: \(flows)."
  }
}
