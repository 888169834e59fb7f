import HearthControl
import HearthCore
import HearthLinux
import HearthOAuth
import HearthStorage

/// Creates JSON reports for hearthctl, which does not parse the configuration itself. The reports contain no secrets,
/// except the secret of a newly registered client.
enum ConfigurationReport {
  /// Reports the accounts and sinks in the configuration. `path` is `nil` if there is no file.
  static func accounts(of configuration: Configuration, path: String?) -> JSON {
    [
      "path": JSON(path),
      "accounts": .array(
        configuration.accounts.map { account in
          [
            "account": .string(account.name.description), "type": .string(account.provider.kind.type.rawValue),
            "provider": JSON(account.provider.preset), "issuer": .string(account.provider.defaultIssuer.text),
            "protection": .string(account.credential.protection.rawValue), "keyFile": JSON(account.credential.keyFile),
          ]
        }),
      "sinks": .array(configuration.sinks.map(sink)),
    ]
  }

  private static func sink(_ sink: SinkSettings) -> JSON {
    [
      "account": .string(sink.account.description), "path": .string(sink.path),
      "format": .string(sink.format.rawValue), "mode": .string("0" + String(sink.mode, radix: 8)),
      "bearer": JSON(sink.bearer?.rawValue), "owner": JSON(sink.owner), "group": JSON(sink.group),
      "hosts": sink.netrc.map { .array($0.hosts.map(JSON.string)) } ?? .null, "login": JSON(sink.netrc?.login),
      "writtenInPlace": .bool(sink.isInPlace),
    ]
  }

  static func error(_ sentence: String) -> JSON { ["error": .string(sentence)] }

  /// Reports the presets and what an account needs for each of them.
  static var providers: JSON {
    ["providers": .array(ProviderPreset.all.map(provider))]
  }

  private static func provider(_ preset: ProviderPreset) -> JSON {
    [
      "provider": .string(preset.name), "type": .string(preset.accountType.rawValue),
      "issuer": JSON(preset.issuer), "issuerExample": JSON(preset.issuerExample),
      "required": .array(preset.requiredKeys.map { .string($0.rawValue) }),
      "usual": .array(preset.usualKeys.map { .string($0.rawValue) }),
      "apiOrigins": .array(preset.apiOrigins.map(JSON.string)),
    ]
  }

  /// Reports the endpoints of the account's provider, from the configuration or from its discovery document.
  static func endpoints(of name: String, in configuration: Configuration, _ paths: ConfiguredPaths) async -> JSON {
    await trying(name, in: configuration, paths) { provider, trial, _, _ in
      [
        "discovery": JSON(provider.discoveryURL?.description), "otherIssuer": JSON(trial.otherIssuer),
        "tokenEndpoint": JSON(trial.endpoints?.token.description),
        "authorizationEndpoint": JSON(trial.endpoints?.authorization?.description),
        "deviceAuthorizationEndpoint": JSON(trial.endpoints?.deviceAuthorization?.description),
        "registrationEndpoint": JSON(trial.endpoints?.registration?.description),
      ]
    }
  }

  /// Registers a client for the account with its provider and reports the client. `token` is an initial access token,
  /// if the provider requires one.
  static func register(
    _ name: String, in configuration: Configuration, _ paths: ConfiguredPaths, token: Secret?
  ) async -> JSON {
    await trying(name, in: configuration, paths) { provider, trial, sender, timeout in
      guard let registration = ClientRegistration(provider, trial.endpoints) else {
        throw RefreshFailure.misconfigured(
          message: "The provider does not support client registration. Register a client there yourself, and pass "
            + "its ID with --client-id.")
      }
      let client = try await registration.register(
        token: token, sender: sender, files: LinuxFileSystem(), timeout: timeout)
      return [
        "clientId": .string(client.id), "clientSecret": JSON(client.secret?.reveal()),
        "clientAuth": JSON(client.authentication),
      ]
    }
  }

  /// Contacts the account's provider. Reports the result of `body`, or the error.
  private static func trying(
    _ name: String, in configuration: Configuration, _ paths: ConfiguredPaths,
    _ body: (ProviderConfiguration, ProviderTrial, HTTPSender, Duration) async throws -> JSON
  ) async -> JSON {
    guard let account = configuration.accounts.first(where: { $0.name.description == name }) else {
      return error("There is no account \"\(name)\" in the configuration.")
    }
    let timeout = min(configuration.refresh.requestTimeout, .seconds(15))
    return await withSender(paths) { sender in
      let trial = try await ProviderTrial(account.provider, sender: sender, files: LinuxFileSystem(), timeout: timeout)
      return try await body(account.provider, trial, sender, timeout)
    }
  }

  /// Reports the provider of an email address, as a preset or an issuer. Both are null if none was found.
  static func provider(of address: String, _ paths: ConfiguredPaths) async -> JSON {
    guard let lookup = IssuerLookup(address) else { return error("\"\(address)\" is not an email address.") }
    return await withSender(paths) { sender in
      let finding = try await lookup.find(
        sender: sender, files: LinuxFileSystem(), timeout: .seconds(10), proxies: paths.proxies)
      return switch finding {
      case .issuer(let issuer): ["provider": nil, "issuer": .string(issuer)]
      case .preset(let name): ["provider": .string(name), "issuer": nil]
      case nil: ["provider": nil, "issuer": nil]
      }
    }
  }

  /// Reports the result of `body`. If it throws, reports the error and whether a later attempt may succeed.
  private static func withSender(
    _ paths: ConfiguredPaths, _ body: (HTTPSender) async throws -> JSON
  ) async -> JSON {
    guard let clock = try? SystemClock() else { return error("Cannot read the clock (\(systemError())).") }
    let sender = HTTPSender(
      connections: .fresh, userAgent: "hearth/\(HearthVersion.text)", clock: clock, authorities: paths.authorities)
    let report: JSON
    do {
      report = try await body(sender)
    } catch {
      let failure = error as? RefreshFailure
      report = ["error": .string(failure?.message ?? "\(error)"), "mayPass": .bool(failure?.mayPass ?? false)]
    }
    await sender.shutdown()
    clock.stop()
    return report
  }
}
