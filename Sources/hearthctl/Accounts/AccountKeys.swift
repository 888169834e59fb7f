import ArgumentParser
import Glibc
import HearthControl
import HearthCore

/// The keys that `account add` can set. Use `account set` for other keys.
struct AccountKeys: ParsableArguments {
  @Option(help: ArgumentHelp("Name of a known provider (see \"hearthctl account providers\").", valueName: "name"))
  var provider: String?

  @Option(
    help: ArgumentHelp(
      "Account type: oidc, oauth2, firebase, json or client-credentials (default: the provider's, or oidc with "
        + "--issuer)."))
  var type: String?

  @Option(help: ArgumentHelp("OpenID Connect issuer, used to discover the endpoints.", valueName: "url"))
  var issuer: String?

  @Option(help: ArgumentHelp("Client ID registered with the provider.", valueName: "id"))
  var clientId: String?

  @Option(
    help: ArgumentHelp("File with the client's secret, readable only by you.", valueName: "file"),
    completion: .file())
  var clientSecretFile: String?

  @Option(help: "Scope to request; may be repeated.")
  var scope: [String] = []

  @Option(help: ArgumentHelp("Origin that Hearth may send the account's token to; may be repeated.", valueName: "url"))
  var apiOrigin: [String] = []

  @Option(
    help: ArgumentHelp(
      "Client authentication: auto, none, basic, post, private_key_jwt, tls or apple.", valueName: "method"))
  var clientAuth: String?

  @Option(help: ArgumentHelp("File with the client's private key.", valueName: "file"), completion: .file())
  var clientKeyFile: String?

  @Option(help: ArgumentHelp("Key ID (kid) of the private key at the provider.", valueName: "id"))
  var clientKeyId: String?

  @Option(help: ArgumentHelp("File with the client's certificate.", valueName: "file"), completion: .file())
  var clientCertificateFile: String?

  @Option(help: ArgumentHelp("Your Apple team ID.", valueName: "id"))
  var teamId: String?

  @Option(
    help: ArgumentHelp(
      "URL of the token endpoint, for oauth2, client-credentials or a Firebase emulator.", valueName: "url"))
  var tokenEndpoint: String?

  @Option(help: ArgumentHelp("For oauth2: URL of the authorization endpoint.", valueName: "url"))
  var authorizationEndpoint: String?

  @Option(help: ArgumentHelp("For oauth2: URL of the device authorization endpoint.", valueName: "url"))
  var deviceAuthorizationEndpoint: String?

  @Option(help: ArgumentHelp("For oauth2: URL that revokes the grant on sign-out.", valueName: "url"))
  var revocationEndpoint: String?

  @Option(help: ArgumentHelp("For oauth2: URL of the userinfo endpoint.", valueName: "url"))
  var userinfoEndpoint: String?

  @Option(
    help: ArgumentHelp(
      "File with certificate authorities (PEM) to trust instead of the system's.", valueName: "file"),
    completion: .file())
  var caFile: String?

  @Option(help: ArgumentHelp("Proxy URL, or none for no proxy (default: from the environment).", valueName: "url"))
  var proxy: String?

  @Option(help: ArgumentHelp("Port of the redirect URI, if the provider requires a fixed port.", valueName: "port"))
  var redirectPort: Int?

  @Option(help: ArgumentHelp("Full redirect URI on this machine, instead of --redirect-port.", valueName: "url"))
  var redirectUri: String?

  @Option(help: ArgumentHelp("For json: URL of the backend's refresh call.", valueName: "url"))
  var refreshUrl: String?

  @Option(help: ArgumentHelp("For json: URL of the backend's sign-in call.", valueName: "url"))
  var loginUrl: String?

  @Option(help: ArgumentHelp("For firebase: web API key of the project. It is not a secret.", valueName: "key"))
  var apiKey: String?

  @Option(help: ArgumentHelp("Extra field for token requests; may be repeated.", valueName: "name=value"))
  var tokenParameter: [String] = []

  @Option(help: ArgumentHelp("Extra field for authorization requests; may be repeated.", valueName: "name=value"))
  var authorizationParameter: [String] = []

  @Option(
    help: ArgumentHelp("Credential file (default: in the state folder).", valueName: "file"),
    completion: .file())
  var credentialFile: String?

  @Option(help: "How to seal the credential: none, passphrase or key-file.")
  var protection: String?

  @Option(help: ArgumentHelp("Key file, for --protection key-file.", valueName: "file"), completion: .file())
  var keyFile: String?

  @Option(help: ArgumentHelp("Your user name, if the provider does not report one.", valueName: "name"))
  var subject: String?

  @Option(help: "What to do when you have to sign in again: none (default) or browser.")
  var onReauth: String?

  /// Returns the account's table. `secretFile` is the path of the file in which the client secret will be stored.
  func table(_ account: AccountName, secretFile: String?) throws -> TOMLTable {
    var table = TOMLTable(path: ["accounts", account.description])
    table.set("provider", provider)
    table.set("type", type ?? (provider == nil && issuer != nil ? "oidc" : nil))
    table.set("issuer", issuer.map(Self.issuer))
    table.set("client_id", clientId)
    table.set("client_secret_file", secretFile ?? Self.absolute(clientSecretFile))
    table.set("client_auth", clientAuth)
    table.set("client_key_file", Self.absolute(clientKeyFile))
    table.set("client_key_id", clientKeyId)
    table.set("client_certificate_file", Self.absolute(clientCertificateFile))
    table.set("team_id", teamId)
    table.set("token_endpoint", tokenEndpoint)
    table.set("authorization_endpoint", authorizationEndpoint)
    table.set("device_authorization_endpoint", deviceAuthorizationEndpoint)
    table.set("revocation_endpoint", revocationEndpoint)
    table.set("userinfo_endpoint", userinfoEndpoint)
    if let redirectPort { table.entries.append(("redirect_port", .integer(redirectPort))) }
    table.set("redirect_uri", redirectUri)
    table.set("refresh_url", refreshUrl)
    table.set("login_url", loginUrl)
    table.set("api_key", apiKey)
    // Split scopes at spaces, because users copy them from other tools as one string, such as "openid email".
    table.set("scopes", scope.flatMap { $0.split(separator: " ").map(String.init) })
    table.set("api_origins", apiOrigin)
    try table.set("token_parameters", Self.pairs(tokenParameter, "--token-parameter"))
    try table.set("authorization_parameters", Self.pairs(authorizationParameter, "--authorization-parameter"))
    table.set("credential_file", Self.absolute(credentialFile))
    table.set("protection", protection)
    table.set("key_file", Self.absolute(keyFile))
    table.set("ca_file", Self.absolute(caFile))
    table.set("proxy", proxy)
    table.set("subject", subject)
    table.set("on_reauth", onReauth)
    return table
  }

  private static let clientAdvice =
    "To register a client yourself, see \"A client of your own\" in \"hearthctl docs terminal\"."

  var namesNoProvider: Bool { provider == nil && type == nil && issuer == nil }

  /// Normalizes an issuer, because users may paste the URL of the discovery document or only the host.
  private static func issuer(_ text: String) -> String {
    let document = "/.well-known/openid-configuration"
    let name = text.hasSuffix(document) ? String(text.dropLast(document.count)) : text
    return name.contains("://") || !name.contains(".") ? name : "https://" + name
  }

  /// Checks that the provider is known and that its required keys are set. If the user gave no API origins, uses those
  /// of the provider. If `mayAsk` is set, asks the user for a missing client ID. Returns whether to ask for the client
  /// secret too.
  mutating func check(with program: DaemonProgram, hasSecret: Bool, mayAsk: Bool) throws -> Bool {
    guard let provider else {
      guard !namesNoProvider else {
        throw ValidationError(
          "Choose a provider with --provider (see \"hearthctl account providers\"), --issuer or --type, or give your "
            + "email address instead of a name.")
      }
      guard clientId == nil, type.map({ ["oidc", "oauth2", "client-credentials"].contains($0) }) ?? true else {
        return false
      }
      guard mayAsk else {
        throw ValidationError(
          "An account needs a client that is registered with its provider. Add --client-id ID, or --register if the "
            + "provider lets Hearth register one. \(Self.clientAdvice)"
        )
      }
      return try askForClient(hasSecret)
    }
    let all = try program.providers()
    guard let known = all.first(where: { $0.name == provider }) else {
      throw ValidationError(
        "There is no provider \"\(provider)\".\(all.map(\.name).suggestion(for: provider)) The known providers are "
          + "\(all.map(\.name).joined(separator: ", ")). For any other provider, use --issuer or --type.")
    }
    // Do not use the provider's usual API origins for a different issuer, which has different APIs.
    if apiOrigin.isEmpty, issuer == nil { apiOrigin = known.apiOrigins }
    guard type == nil || type == known.type else { return false }
    let asks = mayAsk && clientId == nil && known.required.contains("client_id")
    let asksSecret = try asks && askForClient(hasSecret || known.required.contains("client_key_file"))
    let table = try table(AccountName("a")!, secretFile: nil)
    // An Apple account does not need a key if the user has a client secret that was created elsewhere.
    let missing = known.required.filter { key in
      !table.entries.contains { $0.key == key }
        && !(hasSecret && !["issuer", "client_id", "api_key"].contains(key))
    }
    guard !missing.isEmpty else { return asksSecret }
    let options = missing.map { key in
      let option = "--" + key.replacing("_", with: "-")
      return key == "issuer" ? option + (known.issuerExample.map { " (such as \($0))" } ?? "") : option
    }
    throw ValidationError(
      "Provider \"\(provider)\" also requires \(options.joined(separator: " and "))."
        + (missing.contains("client_id") ? " \(Self.clientAdvice)" : ""))
  }

  /// Asks the user for the client ID. Returns whether to ask for the client secret too.
  private mutating func askForClient(_ hasSecret: Bool) throws -> Bool {
    clientId = try Input.ask("Client ID registered with your provider: ")
    return !hasSecret && clientKeyFile == nil && clientAuth.map { $0 == "basic" || $0 == "post" } ?? true
  }

  /// Throws if a file cannot be read, or if other users can read a secret. The daemon would refuse such files.
  func checkFiles() throws {
    for (file, isSecret) in [
      (clientSecretFile, true), (clientKeyFile, true), (clientCertificateFile, false), (caFile, false),
    ] {
      // Skip paths in `%d`, because a systemd unit's credentials exist only while the unit is running.
      guard let file, let path = Self.absolute(file), !path.hasPrefix("%d") else { continue }
      let place = path.hasPrefix("~") ? (variable("HOME") ?? "") + path.dropFirst() : path
      var status = stat()
      guard stat(place, &status) == 0, access(place, R_OK) == 0 else {
        throw CommandFailure(.failed, "\(place) cannot be read: \(reason()). Nothing was written.")
      }
      guard status.st_mode & S_IFMT == S_IFREG else {
        throw CommandFailure(.failed, "\(place) is not a regular file. Nothing was written.")
      }
      // If another user, such as root, owns the file, accept a file that its group can read, because administrators
      // share secrets with users this way.
      guard !isSecret || status.st_mode & (status.st_uid == geteuid() ? 0o077 : 0o037) == 0 else {
        let remedy =
          status.st_uid == geteuid()
          ? "Run \"chmod go= \(place)\" first."
          : "Its owner, user \(status.st_uid), has to run \"chmod g=r,o= \(place)\" first."
        throw CommandFailure(.failed, "Other users can access \(place). \(remedy) Nothing was written.")
      }
      if file == clientSecretFile { try SecretFile.secret(in: Input.file(place), of: place) }
    }
  }

  /// Returns a path as the configuration should contain it: absolute, or starting with `~` or `%d`.
  static func absolute(_ path: String?) -> String? {
    path.map { $0.hasPrefix("~/") || $0.hasPrefix("%d/") ? $0 : EnvironmentPaths.absolute($0) }
  }

  static func pairs(_ texts: [String], _ option: String) throws -> [(key: String, value: String)] {
    try texts.map { text in
      guard let end = text.firstIndex(of: "="), end > text.startIndex,
        !text[..<end].contains(where: { " \t{}[]\"'".contains($0) })
      else { throw ValidationError("\(option) must be NAME=VALUE, not \"\(text)\".") }
      return (String(text[..<end]), String(text[text.index(after: end)...]))
    }
  }
}

extension TOMLTable {
  fileprivate mutating func set(_ key: String, _ pairs: [(key: String, value: String)]) {
    if !pairs.isEmpty { entries.append((key, .table(pairs))) }
  }
}
