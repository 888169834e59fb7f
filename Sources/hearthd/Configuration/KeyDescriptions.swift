import HearthControl
import HearthCore
import HearthOAuth
import HearthStorage
import Logging

extension AccountRules.Key: DescribedKey {
  var description: JSON {
    switch self {
    case .defaultAccount:
      .text(
        "Account for commands that do not name one (default: the only account).")
    case .use:
      .tables(
        AccountRules.RuleKey.self,
        "Rules that select the account for commands that do not name one. The longest url takes precedence, then the "
          + "longest directory.",
        required: ["account"])
    }
  }
}

extension AccountRules.RuleKey: DescribedKey {
  var description: JSON {
    switch self {
    case .account: .text("Account that the rule selects.")
    case .directory: .text("Working directory of the command, or a parent of it.")
    case .url: .text("Origin of the server, or the beginning of a URL.")
    }
  }
}

extension Configuration.DaemonKey: DescribedKey {
  var description: JSON {
    switch self {
    case .oidcAgentSocket: .flag("Has no effect: enable hearth-oidc-agent.socket instead.", false)
    }
  }
}

extension Configuration.LogKey: DescribedKey {
  var description: JSON {
    switch self {
    case .level: .choice(Logger.Level.self, "Lowest level to log.", "info")
    }
  }
}

extension ProviderKey: DescribedKey {
  var description: JSON {
    let names = types.map(\.rawValue).joined(separator: ", ")
    return types == AccountType.allCases ? purpose : purpose.noting("Only for \(names).")
  }

  private var purpose: JSON {
    switch self {
    case .type: .choice(AccountType.self, "Type of the account. Required unless provider is set.")
    case .provider: .choice(ProviderPreset.names, "Preset for a known provider. Keys that you set take precedence.")
    case .issuer: .text("The https URL of the issuer, whose discovery document names the endpoints.")
    case .clientID: .text("Client ID registered with the provider.")
    case .clientSecretFile: .text("File with the client's secret, readable only by you.")
    case .scopes: .texts("Scopes to request (default with an issuer: openid, and offline_access if offered).")
    case .apiOrigins: .texts("Origins of the only APIs that Hearth sends the account's token to.")
    case .bearer: .choice(BearerKind.self, "Token to send to APIs (default: access_token; for firebase, id_token).")
    case .subject: .text("Your user name, if the provider does not report one.")
    case .defaultLifetime: .duration("Lifetime of access tokens, if the provider does not report one.")
    case .expect:
      .choice(
        ExpectedContent.self,
        "Expected content of responses to queued requests. With json, Hearth retries after a 2xx with HTML.")
    case .delivery:
      .tables(
        DeliveryOverrides.Key.self, "Outcomes of queued requests by HTTP status, overriding the defaults.",
        required: ["status", "outcome"])
    case .tokenEndpoint: .text("URL of the token endpoint.")
    case .authorizationEndpoint: .text("URL where the browser signs in.")
    case .deviceAuthorizationEndpoint: .text("URL for signing in with a code on another device.")
    case .revocationEndpoint: .text("URL that revokes the grant on sign-out.")
    case .userInfoEndpoint: .text("URL that returns information about the signed-in user.")
    case .refreshURL: .text("URL of the backend's refresh call.")
    case .loginURL: .text("URL of the backend's sign-in call with user name and password.")
    case .refreshTokenField: .text("Field with the refresh token (use dots for nested fields).", "refresh_token")
    case .accessTokenField: .text("Field with the access token (use dots for nested fields).", "access_token")
    case .expiresInField: .text("Field with the lifetime in seconds (use dots for nested fields).", "expires_in")
    case .apiKey: .text("Web API key of the Firebase project. It is not a secret.")
    case .clientAuth: .choice(ClientAuthentication.Method.self, "How the client authenticates.", "auto")
    case .clientKeyFile: .text("File with the client's private key (PEM), for private_key_jwt, tls and apple.")
    case .clientKeyID: .text("ID of the client's key, as registered with the provider (kid).")
    case .clientCertificateFile: .text("File with the client's certificate (PEM), for tls and private_key_jwt.")
    case .clientAssertionAudience: .text("Audience of the client's assertion (default: the token endpoint).")
    case .teamID: .text("Your team ID at Apple, for client_auth = \"apple\".")
    case .tokenParameters: .fields("Extra fields for every request to the token endpoint.")
    case .authorizationParameters: .fields("Extra fields for the request that opens the sign-in page.")
    case .finalErrors: .texts("Error codes that end the session, in addition to the standard ones.")
    case .caFile: .text("File with certificate authorities (PEM) to trust instead of the system's.")
    case .certificatePins: .texts("SHA-256 hashes of public keys, one of which must be in the server's chain.")
    case .proxy: .text("URL of an HTTP or SOCKS 5 proxy, or \"none\" (default: the environment's).")
    case .redirectPort: .integer(1...65535, "Port of the redirect address, if the provider requires a fixed port.")
    case .redirectURI: .text("Full redirect URI on this machine, instead of redirect_port.")
    }
  }
}

extension CredentialSettings.Key: DescribedKey {
  var description: JSON {
    switch self {
    case .credentialFile: .text("Credential file (default: credentials/NAME.json in the state folder).")
    case .protection:
      .choice(
        Protection.allCases.filter { $0 != .secretService }.map(\.rawValue),
        "How the credential file is sealed.", "none")
    case .keyFile: .text("File with the key that seals the credential file.")
    }
  }
}

extension SessionSettings.Key: DescribedKey {
  var description: JSON {
    switch self {
    case .username: .text("Your user name in git and other programs, which they use to select the account.")
    case .lockOn: .texts("Events that lock the session, in addition to \"hearthctl lock\".", among: ["unreadable"])
    case .onReauth: .choice(ReauthPrompt.self, "What to do when you have to sign in again.", "none")
    }
  }
}

extension SinkSettings.Key: DescribedKey {
  var description: JSON {
    switch self {
    case .path: .text("Path of the file. Its folder must exist.")
    case .format: .choice(SinkSettings.Format.self, "Content of the file.", "token")
    case .bearer: .choice(BearerKind.self, "Token in the file (default: the account's bearer).")
    case .mode: .text("File mode. Only the owner can have write permission.", "0600")
    case .hosts: .texts("Hosts in a netrc file (default: those of the account's api_origins).")
    case .login: .text("Login in a netrc file (default: the account's username, else oauth2).")
    case .inPlace: .flag("Whether to write in place, for a bind mount of this single file.", false)
    case .owner: .text("Owner of the file, by name or number. Requires Hearth to run as root.")
    case .group: .text("Group of the file, by name or number.")
    }
  }
}

extension DeliveryOverrides.Key: DescribedKey {
  var description: JSON {
    switch self {
    case .status: .statuses("HTTP status, or an array of statuses.")
    case .outcome: .choice(DeliveryOverrides.Outcome.self, "What happens to the queued request.")
    }
  }
}

extension RefreshSettings.Key: DescribedKey {
  var description: JSON {
    switch self {
    case .margin: .duration("Time before expiry at which a token is refreshed.", "5m")
    case .marginFraction: .fraction("Fraction of the lifetime to use instead of margin, if it is shorter.", 0.2)
    case .jitter: .fraction("Maximum random addition to the margin, as a fraction of it.", 0.1)
    case .backoffInitial: .duration("First wait after a failure. Each further failure doubles it.", "1s")
    case .backoffMax:
      .duration("Longest wait after a failure, unless the response is unclear or asks for a longer wait.", "5m")
    case .requestTimeout:
      .duration("Timeout for a provider's response, and for an API's response to a queued request.", "30s")
    }
  }
}

extension OutboxSettings.Key: DescribedKey {
  var description: JSON {
    switch self {
    case .maxItems: .integer(1...100_000_000, "Maximum number of undelivered and dead items.", 100_000)
    case .maxBytes: .size("Maximum total size of these items.", "1GiB")
    case .maxBody: .size("Maximum size of a body.", "1MiB")
    case .concurrency:
      .integer(1...1024, "Maximum number of concurrent unordered requests per account and origin.", 8)
    case .retryInitial: .duration("First wait before a retry. Each further retry doubles it.", "1s")
    case .retryMax: .duration("Longest wait before a retry, unless the response asks for a longer one.", "6h")
    case .maxAttempts: .integer(1...1_000_000, "Number of attempts after which an item is dead.", 30)
    case .idempotencyHorizon: .duration("How long servers remember an Idempotency-Key.", "24h")
    case .keepDelivered: .duration("Retention time for delivered, cancelled and superseded items.", "24h")
    case .keepDead: .duration("Retention time for dead items.", "30d")
    }
  }
}
