import ArgumentParser
import HearthClient
import HearthControl
import HearthCore

/// Chooses the account for a helper. The daemon returns a token only for the account's `api_origins`.
struct CredentialSource: ParsableArguments {
  @OptionGroup var daemonOptions: DaemonOptions

  @Option(
    help: ArgumentHelp(
      "Account (default: see \"hearthctl which URL\", otherwise the first with the server in its api_origins).",
      valueName: "name"),
    completion: Completions.accounts)
  var account: String?
}

extension CredentialSource {
  init(account: String?, _ daemonOptions: DaemonOptions) {
    self.init()
    (self.account, self.daemonOptions) = (account, daemonOptions)
  }

  /// Returns a token of the first account that has one of these URLs in its `api_origins` and can provide a token. If
  /// the account chosen by the environment or the configuration has such a URL, no other account is tried. Returns
  /// `nil` if no account has such a URL. Throws if some have one, but none can provide a token.
  func token(for urls: [String]) throws -> Bearer? {
    var client = try daemonOptions.connect()
    let accounts: [AccountName]
    var chosen: AccountName?
    if let account = try AccountName.asked(account) {
      accounts = [account]
    } else {
      let (first, all) = try Self.candidates(for: urls.first, &client)
      chosen = first
      accounts = [first].compactMap(\.self) + all.filter { $0 != first }
    }
    var refusal: RPCError?
    for account in accounts {
      switch try Self.ask(account, urls, &client) {
      case .success(let token): return token
      case .failure(let error) where account == chosen: throw ControlClient.Failure.refused(error)
      case .failure(let error): refusal = refusal ?? error
      case nil: break
      }
    }
    if let refusal { throw ControlClient.Failure.refused(refusal) }
    return nil
  }

  /// Returns a token for the URL. Throws if no account has its origin in its `api_origins`.
  func requiredToken(for url: String) throws -> Bearer {
    if let token = try token(for: [url]) { return token }
    throw CommandFailure(
      .failed,
      "No account has the origin of \(url) in its api_origins. Add it with \"hearthctl account set NAME --add "
        + "api_origins URL\".")
  }

  /// Returns all accounts, and the account that the environment or the configuration chooses for this URL. If the
  /// chosen account lists the server in its `api_origins`, no other account may answer, because a program would act as
  /// a different user while the chosen account is locked. Returns no accounts if the daemon cannot parse the URL.
  static func candidates(
    for url: String?, _ client: inout ControlClient
  ) throws -> (chosen: AccountName?, all: [AccountName]) {
    let choice: ChosenAccount
    do {
      choice = try DefaultAccount.choice(for: url, &client).value
    } catch ControlClient.Failure.refused {
      return (nil, [])
    }
    let accounts = try choice.accounts.map { try AccountName(asked: $0) }
    let named = accounts.count > 1 ? variable(DefaultAccount.variableName) : nil
    return (try named.map { try AccountName(asked: $0) } ?? choice.account, accounts)
  }

  /// Asks for a token for the first of `urls` whose origin is in the account's `api_origins`. Returns `nil` if there is
  /// no such URL. If `names` is set, the answer includes the user's names.
  static func ask(
    _ account: AccountName, _ urls: [String], names: Bool = false, _ client: inout ControlClient
  ) throws -> Result<Bearer, RPCError>? {
    for url in urls {
      switch try client.call(each: [GetToken(account, url: url, wantsNames: names)])[0] {
      case .failure(let error) where [.originNotAllowed, .invalidParams].contains(error.kind): continue
      case let answer: return answer
      }
    }
    return nil
  }
}

extension HTTPURL {
  /// Returns the root URL of a host with an optional port. Returns `nil` if `host` is anything else.
  static func root(_ scheme: String, _ host: String) -> HTTPURL? {
    (try? HTTPURL("\(scheme)://\(host)/")).flatMap { $0.target == "/" ? $0 : nil }
  }
}
