import ArgumentParser
import HearthControl
import HearthCore

/// The options for registering a client together with a new account (RFC 7591).
struct RegistrationOptions: ParsableArguments {
  @Flag(help: "Register Hearth as a client with the provider, without asking first.")
  var register = false

  @Flag(help: "Register with an initial access token from standard input, if the provider requires one.")
  var registrationTokenStdin = false

  var isAsked: Bool { register || registrationTokenStdin }

  /// A temporary client ID that makes the draft valid. The provider then assigns the real client ID.
  private static let placeholder = "unregistered"

  /// Registers a client if the account has none, the provider supports registration and the user agrees. Adds the
  /// client to `keys`. Returns the client's secret, or `nil` if there is no secret.
  func register(
    _ account: AccountName, _ keys: inout AccountKeys, _ file: AccountFile, mayAsk: Bool
  ) throws -> SecretFile? {
    guard keys.clientId == nil, isAsked || mayAsk && keys.mayRegister else { return nil }
    guard keys.mayRegister else {
      throw ValidationError(
        "--register requires --issuer, and cannot be combined with --provider, --client-secret-file, "
          + "--client-key-file or a --type other than oidc.")
    }
    var trial = keys
    trial.clientId = Self.placeholder
    let endpoints: DaemonProgram.Endpoints
    do {
      endpoints = try file.trying(account, in: trial.table(account, secretFile: nil)) {
        try file.program.discover(account, in: $0)
      }
    } catch let refusal as DaemonProgram.Refusal {
      // Without --register, ignore the problem, because a later check of the provider reports it.
      guard isAsked else { return nil }
      throw failure(refusal)
    }
    if let issuer = endpoints.otherIssuer { (keys.issuer, trial.issuer) = (issuer, issuer) }
    guard isAsked || endpoints.registration != nil else { return nil }
    if !isAsked {
      let question = "Register Hearth as a client with \(keys.issuer ?? "")? [Y/n] "
      guard try AccountAddVerb.agrees(question, or: true) else { return nil }
    }
    let place = try SecretFile.path(for: account, beside: file.path)
    let token = try registrationTokenStdin ? initialToken() : nil
    let client: (id: String, secret: Secret?, authentication: String?)
    do {
      client = try file.trying(account, in: trial.table(account, secretFile: nil)) {
        try file.program.register(account, in: $0, token: token)
      }
    } catch let refusal as DaemonProgram.Refusal {
      throw failure(refusal)
    }
    Output.note("Registered Hearth with \(keys.issuer ?? ""). The client ID is \(client.id).")
    keys.clientId = client.id
    if keys.clientAuth == nil { keys.clientAuth = client.authentication }
    return client.secret.map { SecretFile(path: place, secret: $0) }
  }

  private func failure(_ refusal: DaemonProgram.Refusal) -> CommandFailure {
    CommandFailure(refusal.mayPass ? .later : .failed, "\(refusal.sentence) Nothing was written.")
  }

  private func initialToken() throws -> Secret {
    let token = try Input.secret(prompt: "Initial access token: ", name: "initial access token").trimmingBlanks()
    return try Input.secret(
      .refreshToken, in: Array(token.utf8), of: "The initial access token", else: "It was not sent.")
  }
}

extension AccountKeys {
  /// Whether a client can be registered: the endpoints come from discovery, and the user did not give a client secret
  /// or key.
  fileprivate var mayRegister: Bool {
    issuer != nil && provider == nil && (type == nil || type == "oidc") && clientSecretFile == nil
      && clientKeyFile == nil
  }
}
