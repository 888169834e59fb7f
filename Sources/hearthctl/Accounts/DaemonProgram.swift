import Glibc
import HearthControl
import HearthCore

/// The program `hearthd`, which parses configurations and knows the providers. A new process is started for each
/// request.
struct DaemonProgram {
  private let program: Subprogram
  /// Options that pass the running daemon's own paths to hearthd, so that it refuses configurations that reuse them.
  private var places: [String] = []
  /// The timeout for requests that do not use the network.
  private static let timeout: Duration = .seconds(20)
  /// The timeout for requests that contact a provider. It is longer than hearthd's own timeout.
  private static let discoveryTimeout: Duration = .seconds(25)

  /// Finds hearthd next to this program or in `$PATH`.
  static func find() throws -> DaemonProgram {
    let own = String(unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer in
      buffer.withMemoryRebound(to: CChar.self) { max(readlink("/proc/self/exe", $0.baseAddress!, $0.count), 0) }
    }
    let beside = own.lastIndex(of: "/").map { String(own[..<$0]) }
    guard let program = Subprogram.find("hearthd", in: [beside].compactMap(\.self) + Subprogram.searchPath) else {
      throw CommandFailure(
        .failed,
        "Cannot find hearthd beside hearthctl or in $PATH. Install it, because hearthctl uses it to read the "
          + "configuration.")
    }
    return DaemonProgram(program: program)
  }

  /// Returns a copy that checks configurations as this daemon would.
  func reading(as daemon: DaemonInfo) -> DaemonProgram {
    var program = self
    program.places = [("--state-dir", "state"), ("--socket", "socket")].flatMap { option, name in
      daemon.path(name).map { [option, $0] } ?? []
    }
    return program
  }

  struct Account: Equatable {
    let name: String
    let type: String
    /// The name of the preset, or `nil` if the account does not use a preset.
    let provider: String?
    let issuer: String
    /// The kind of protection for the credential. `keyFile` is the configured key file, if any.
    let protection: String
    let keyFile: String?

    var json: JSON {
      [
        "account": .string(name), "type": .string(type), "provider": JSON(provider), "issuer": .string(issuer),
        "protection": .string(protection),
      ]
    }
  }

  /// A file in which Hearth stores an account's token.
  struct Sink: Equatable {
    let account: String
    let path: String
    let format: String
    let mode: String
    let json: JSON
  }

  struct Provider {
    let name: String
    let type: String
    /// The issuer, or `nil` if each customer has a different issuer or the provider has none.
    let issuer: String?
    let issuerExample: String?
    /// The keys that an account must have. `usual` contains further keys that most clients need.
    let required: [String]
    let usual: [String]
    let apiOrigins: [String]
    let json: JSON
  }

  struct Endpoints {
    /// The URL of the discovery document, or `nil` if the endpoints are configured.
    let discovery: String?
    let token: String?
    let hasBrowser: Bool
    let hasDevice: Bool
    /// The provider's own spelling of the issuer, if it differs from the configuration only by a final slash.
    let otherIssuer: String?
    /// The registration endpoint, or `nil` if the provider does not offer registration.
    let registration: String?
    let json: JSON
  }

  /// The reason why hearthd refused a request, for example because the configuration is invalid.
  struct Refusal: Error {
    let sentence: String
    /// Whether a later attempt may succeed.
    var mayPass = false
  }

  /// Returns the accounts in a configuration file. Throws a `Refusal` if the file is invalid.
  func accounts(of path: String) throws -> [Account] {
    let report = try ask(["--describe", "--config", path] + places)
    return try (report["accounts"]?.array ?? []).map { account in
      guard let name = account["account"]?.string, let type = account["type"]?.string,
        let issuer = account["issuer"]?.string, let protection = account["protection"]?.string
      else { throw notUnderstood }
      return Account(
        name: name, type: type, provider: account["provider"]?.string, issuer: issuer, protection: protection,
        keyFile: account["keyFile"]?.string)
    }
  }

  /// Returns the sinks in a configuration file, in order within each account. Throws a `Refusal` if the file is
  /// invalid.
  func sinks(of path: String) throws -> [Sink] {
    let report = try ask(["--describe", "--config", path] + places)
    return try (report["sinks"]?.array ?? []).map { sink in
      guard let account = sink["account"]?.string, let path = sink["path"]?.string,
        let format = sink["format"]?.string, let mode = sink["mode"]?.string
      else { throw notUnderstood }
      return Sink(account: account, path: path, format: format, mode: mode, json: sink)
    }
  }

  func providers() throws -> [Provider] {
    try (ask(["--describe-providers"])["providers"]?.array ?? []).map { provider in
      guard let name = provider["provider"]?.string, let type = provider["type"]?.string else { throw notUnderstood }
      return Provider(
        name: name, type: type, issuer: provider["issuer"]?.string, issuerExample: provider["issuerExample"]?.string,
        required: provider["required"]?.array?.compactMap(\.string) ?? [],
        usual: provider["usual"]?.array?.compactMap(\.string) ?? [],
        apiOrigins: provider["apiOrigins"]?.array?.compactMap(\.string) ?? [], json: provider)
    }
  }

  /// Returns the endpoints of the account's provider. Throws a `Refusal` on failure, for example if the provider does
  /// not answer.
  func discover(_ account: AccountName, in path: String) throws -> Endpoints {
    let report = try ask(
      ["--discover", account.description, "--config", path] + places, within: Self.discoveryTimeout)
    return Endpoints(
      discovery: report["discovery"]?.string, token: report["tokenEndpoint"]?.string,
      hasBrowser: report["authorizationEndpoint"]?.string != nil,
      hasDevice: report["deviceAuthorizationEndpoint"]?.string != nil, otherIssuer: report["otherIssuer"]?.string,
      registration: report["registrationEndpoint"]?.string, json: report)
  }

  /// Registers a client with the account's provider. Throws a `Refusal` on failure. `token` is an initial access token,
  /// if the provider requires one. `authentication` is the value of `client_auth` for the account, or `nil` if the
  /// default applies.
  func register(
    _ account: AccountName, in path: String, token: Secret?
  ) throws -> (id: String, secret: Secret?, authentication: String?) {
    let report = try ask(
      ["--register", account.description, "--config", path] + places,
      input: token.map { Array("\($0.reveal())\n".utf8) } ?? [], within: Self.discoveryTimeout + Self.discoveryTimeout)
    guard let id = report["clientId"]?.string else { throw notUnderstood }
    return (id, report["clientSecret"]?.string.map { Secret($0) }, report["clientAuth"]?.string)
  }

  /// Returns the provider of an email address as the name of a preset or as an issuer. Both are `nil` if none is known.
  /// Throws a `Refusal` if the lookup fails.
  func provider(of address: String) throws -> (name: String?, issuer: String?) {
    let report = try ask(["--discover-provider", address], within: Self.discoveryTimeout)
    return (report["provider"]?.string, report["issuer"]?.string)
  }

  private var notUnderstood: CommandFailure {
    CommandFailure(
      .failed,
      "Cannot parse the output of \(program.path). Check that it has the same version as hearthctl.")
  }

  private func ask(
    _ arguments: [String], input: [UInt8] = [], within limit: Duration = Self.timeout
  ) throws -> JSON {
    // Use any folder for `%d`, because the folder of the daemon's unit is unknown here and hearthd does not read from
    // it.
    setenv("CREDENTIALS_DIRECTORY", "/run/credentials", 0)
    setenv("XDG_RUNTIME_DIR", "/run/user/\(getuid())", 0)
    let output = try program.output(arguments, input: input, within: limit)
    guard let report = try? JSON(parsing: output), report.object != nil else { throw notUnderstood }
    if let sentence = report["error"]?.string { throw Refusal(sentence: sentence, mayPass: report["mayPass"] == true) }
    return report
  }
}
