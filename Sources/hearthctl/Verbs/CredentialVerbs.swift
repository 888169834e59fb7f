import ArgumentParser
import HearthControl
import HearthCore

/// Credential helpers for other programs. They print a token only for the account's `api_origins`.
struct CredentialVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "credential", abstract: "Give other programs a token in the form that they expect.",
    subcommands: [
      CredentialGitVerb.self, CredentialDockerVerb.self, CredentialKubectlVerb.self, CredentialGoogleVerb.self,
      CredentialGoauthVerb.self, CredentialBazelVerb.self, CredentialTerraformVerb.self,
    ])
}

struct CredentialGitVerb: HelperCall {
  static let configuration = CommandConfiguration(
    commandName: "git", abstract: "Act as a credential helper for git.",
    discussion: """
      To use it for one server, run: git config --global credential.https://git.example.com.helper "!hearthctl \
      credential git". For servers outside the api_origins, Hearth prints nothing, and git asks its other helpers. If \
      git passes a user name, as in https://ada@git.example.com, Hearth looks for an account with this subject, email \
      address or username. For example:

        printf 'protocol=https\\nhost=git.example.com\\n' | hearthctl credential git get
      """)

  @OptionGroup var source: CredentialSource

  @Option(
    help: ArgumentHelp(
      "User name, if git does not pass one (default: the account's username, otherwise oauth2).", valueName: "name"))
  var username: String?

  @Flag(help: "Give git a bearer token (git 2.46 or later) instead of a password.")
  var bearer = false

  @Argument(help: "Action: get, store or erase.", completion: .list(["get", "store", "erase"]))
  var operation: String
}

/// Answers docker (docker-credential-helpers). docker reads errors from stdout and recognizes some phrases. All errors
/// except missing credentials are also printed to stderr, because some programs show stderr instead.
struct CredentialDockerVerb: HelperCall {
  static let configuration = CommandConfiguration(
    commandName: "docker", abstract: "Act as a credential helper for docker, podman and similar tools.",
    discussion: """
      Docker calls the program docker-credential-hearth, which runs: hearthctl credential docker "$@". To use it for a \
      registry, add to ~/.docker/config.json: "credHelpers": {"registry.example.com": "hearth"}. For example:

        echo registry.example.com | hearthctl credential docker get
      """)

  static let username = "oauth2accesstoken"
  /// The phrase for missing credentials. Programs then continue without credentials (docker-credential-helpers,
  /// "errors").
  private static let none = "credentials not found in native keychain"
  /// The phrase for a request that does not name a server.
  private static let noServer = "no credentials server URL"

  @OptionGroup var source: CredentialSource

  @Option(help: ArgumentHelp("User name, if the registry requires a specific one.", valueName: "name"))
  var username = Self.username

  @Argument(
    help: "Action: get, list, store or erase.", completion: .list(["get", "list", "store", "erase"]))
  var operation: String

  func say(_ failure: CommandFailure) -> CommandFailure? {
    if let message = failure.message { output.line(message) }
    return failure
  }

  func answer() throws {
    switch operation {
    case "get":
      let lines = String(decoding: try Input.all(), as: UTF8.self).split(whereSeparator: \.isNewline)
      guard let first = lines.first.map({ String($0).trimmingBlanks() }), !first.isEmpty else {
        throw CommandFailure(.failed, Self.noServer)
      }
      let server = lines.count == 1 ? first : ""
      guard let token = try source.token(for: Self.urls(of: server)) else {
        output.line(Self.none)
        throw CommandFailure(.failed, nil)
      }
      let secret = token.token.secret.reveal()
      let answer: JSON = ["ServerURL": .string(server), "Username": .string(username), "Secret": .string(secret)]
      output.line(answer.description)
    case "list": output.line("{}")
    case "erase": break
    case "version": output.line("hearthctl \(HearthVersion.text)")
    case "store":
      throw CommandFailure(
        .failed, "Hearth does not store registry passwords. Sign in with \"hearthctl login\" instead of docker login.")
    default: throw CommandFailure(.failed, "Unknown credential action `\(operation)`")
    }
  }

  private var output: Output { Output(isJSON: true) }

  /// Returns the URLs to try for a registry. If docker passes only a host, both `https` and `http` are tried, because a
  /// registry on this machine may not use TLS.
  static func urls(of server: String) -> [String] {
    let urls = server.contains("://") ? [try? HTTPURL(server)] : ["https", "http"].map { HTTPURL.root($0, server) }
    return urls.compactMap { $0?.description }
  }
}

/// Answers kubectl. kubectl shows the plugin's stderr and fails unless the plugin exits with 0
/// (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins).
struct CredentialKubectlVerb: HelperCall {
  static let configuration = CommandConfiguration(
    commandName: "kubectl", abstract: "Act as a credential plugin for kubectl.",
    discussion: """
      To use it, add to a user in the kubeconfig: exec: {apiVersion: client.authentication.k8s.io/v1, command: \
      hearthctl, args: [credential, kubectl], provideClusterInfo: true, interactiveMode: Never}. For clients that do \
      not support provideClusterInfo, add the cluster's URL: args: [credential, kubectl, --for, \
      "https://k8s.example.com:6443"]. For example:

        hearthctl credential kubectl --account work --for https://k8s.example.com:6443
      """)

  private static let versions = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"]

  @OptionGroup var source: CredentialSource

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("URL of the cluster, for clients that do not pass it.", valueName: "url"))
  var url: String?

  func answer() throws {
    let asked = try asked()
    // Prefer the server that the client reports, because the client sends the token there.
    guard let server = asked.server ?? url else {
      throw CommandFailure(
        .usage,
        "kubectl did not pass the cluster's URL. Set provideClusterInfo: true beside \"command: hearthctl\" in the "
          + "kubeconfig, or add the URL to the args: [credential, kubectl, --for, https://…].")
    }
    let bearer = try source.requiredToken(for: server)
    var status: JSONObject = ["token": .string(bearer.token.secret.reveal())]
    if let expiresAt = bearer.expiresAt { status["expirationTimestamp"] = .string(expiresAt.description) }
    let answer: JSON = [
      "apiVersion": .string(asked.version), "kind": "ExecCredential", "status": .object(status),
    ]
    Output(isJSON: true).line(answer.description)
  }

  /// Parses the client's request (client.authentication.k8s.io, "ExecCredential"). It is missing if a user runs the
  /// plugin by hand, and names no server unless the client is configured to pass it. Throws if it is not an
  /// ExecCredential of a known version.
  private func asked() throws -> (version: String, server: String?) {
    guard let info = variable("KUBERNETES_EXEC_INFO") else { return (Self.versions[0], nil) }
    guard let json = try? JSON(parsing: Array(info.utf8)), let version = json["apiVersion"]?.string else {
      throw CommandFailure(.usage, "KUBERNETES_EXEC_INFO does not contain an ExecCredential.")
    }
    guard Self.versions.contains(version) else {
      throw CommandFailure(
        .usage, "The ExecCredential version \(version) is not supported. Set apiVersion: \(Self.versions[0]).")
    }
    return (version, json["spec"]?["cluster"]?["server"]?.string)
  }
}

/// Answers Google's client libraries with a token that they exchange for a Google token
/// (https://google.aip.dev/auth/4117). The libraries read errors as JSON from stdout, but only if the program exits
/// with 0. Some libraries also parse stderr, so nothing is printed there.
struct CredentialGoogleVerb: HelperCall {
  static let configuration = CommandConfiguration(
    commandName: "google",
    abstract: "Act as an executable credential source for Google's workload or workforce identity federation.",
    discussion: """
      To use it, add to the credential configuration: "credential_source": {"executable": {"command": "hearthctl \
      credential google"}}. Set GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1 in the environment. The account must use \
      ID tokens (bearer = "id_token") or have access tokens that are JWTs, and its api_origins must contain \
      https://sts.googleapis.com. For example:

        hearthctl credential google --account work
      """)

  /// The URL at which the libraries exchange the token by default. They do not report which URL they use.
  static let url = "https://sts.googleapis.com/v1/token"
  /// The token types for OpenID Connect. All others are for SAML.
  private static let tokenTypes = ["urn:ietf:params:oauth:token-type:id_token", "urn:ietf:params:oauth:token-type:jwt"]

  @OptionGroup var source: CredentialSource

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("token_url of the configuration, if it is not the default.", valueName: "url"))
  var url = Self.url

  func say(_ failure: CommandFailure) -> CommandFailure? {
    let answer: JSONObject = [
      "version": 1, "success": false, "code": .string("\(failure.status)"),
      "message": .string((failure.message ?? "").shown()),
    ]
    Output(isJSON: true).line(JSON.object(answer).description)
    return nil
  }

  func answer() throws {
    let type = variable("GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE") ?? Self.tokenTypes[0]
    guard Self.tokenTypes.contains(type) else {
      throw CommandFailure(
        .usage,
        "Hearth does not support the subject_token_type \(type). Use \(Self.tokenTypes[0]) or \(Self.tokenTypes[1]).")
    }
    let given = try source.requiredToken(for: url)
    let token = given.token.secret.reveal()
    // Do not give Google an opaque token, because Google would refuse it.
    guard token.split(separator: ".", omittingEmptySubsequences: false).count == 3 else {
      throw CommandFailure(
        .failed,
        "Google requires a JWT, but the token of \(given.account) is not one. Run \"hearthctl account set "
          + "\(given.account) bearer id_token\".")
    }
    var answer: JSONObject = [
      "version": 1, "success": true, "token_type": .string(type), "id_token": .string(token),
    ]
    if let expiresAt = given.expiresAt { answer["expiration_time"] = JSON(Int(expiresAt.milliseconds / 1000)) }
    Output(isJSON: true).line(JSON.object(answer).description)
  }
}

/// Answers go's `GOAUTH` ("go help goauth"). go runs the command without a URL at first, and then with the URL of each
/// request that a server refused. If the command fails, go continues without a token, and shows the command's stderr
/// only with "go -x".
struct CredentialGoauthVerb: HelperCall {
  static let configuration = CommandConfiguration(
    commandName: "goauth", abstract: "Act as a GOAUTH command for go.",
    discussion: """
      To use it, run: go env -w GOAUTH='hearthctl credential goauth'. If GOAUTH contains several commands, go uses the \
      first one that returns a credential for the server. For example:

        hearthctl credential goauth https://go.example.com/notes/@v/list
      """)

  @OptionGroup var source: CredentialSource

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp(
      "Server to which go sends the token with its first request, instead of after a rejection.", valueName: "url"))
  var server: String?

  @Argument(help: "URL of the rejected request, added by go.")
  var url: String?

  func answer() throws {
    // Ignore the server's response, which go passes on stdin, because it does not show which token was refused, if any.
    guard let url = url ?? server, let origin = (try? HTTPURL(url))?.origin,
      let token = try source.token(for: [url])
    else { return }
    Output(isJSON: false).line("\(origin)\n\nAuthorization: \(token.headerValue)\n")
  }
}

/// Answers Bazel and similar programs (https://github.com/EngFlow/credential-helper-spec). These programs show the
/// helper's stderr and fail unless the helper exits with 0. An answer without headers is not a failure.
struct CredentialBazelVerb: HelperCall {
  static let configuration = CommandConfiguration(
    commandName: "bazel", abstract: "Act as a credential helper for Bazel and programs that use its protocol.",
    discussion: """
      Bazel calls the program bazel-credential-hearth, which runs: hearthctl credential bazel "$@". To use it for a \
      server, add to .bazelrc: common --credential_helper=build.example.com=bazel-credential-hearth. For example:

        echo '{"uri": "https://build.example.com/"}' | hearthctl credential bazel get
      """)

  @OptionGroup var source: CredentialSource

  @Argument(help: "Action: get.", completion: .list(["get"]))
  var operation: String

  func answer() throws {
    guard operation == "get" else { throw CommandFailure(.failed, "Unknown credential action `\(operation)`.") }
    guard let url = (try? JSON(parsing: Input.all()))?["uri"]?.string else {
      throw CommandFailure(.usage, #"Standard input must be a JSON object such as {"uri": "https://…"}."#)
    }
    var answer: JSONObject = ["headers": [:]]
    if let bearer = try source.token(for: [url]) {
      answer["headers"] = ["Authorization": [.string(bearer.headerValue)]]
      // Without an expiry, Bazel caches the headers for half an hour.
      if let expiresAt = bearer.expiresAt { answer["expires"] = .string(expiresAt.description) }
    }
    Output(isJSON: true).line(JSON.object(answer).description)
  }
}

/// Answers terraform and tofu (https://developer.hashicorp.com/terraform/internals/credentials-helpers). Both show the
/// helper's stderr and fail unless the helper exits with 0. An empty object means that Hearth does not have a token for
/// the host.
struct CredentialTerraformVerb: HelperCall {
  static let configuration = CommandConfiguration(
    commandName: "terraform", abstract: "Act as a credentials helper for terraform and tofu.",
    discussion: """
      Terraform calls the program terraform-credentials-hearth in ~/.terraform.d/plugins, which runs: hearthctl \
      credential terraform "$@". To use it, add to ~/.terraformrc: credentials_helper "hearth" {}. For example:

        hearthctl credential terraform get terraform.example.com
      """)

  @OptionGroup var source: CredentialSource

  @Argument(help: "Action: get, store or forget.", completion: .list(["get", "store", "forget"]))
  var operation: String

  @Argument(help: "Host name of the server, with its port if it has one.")
  var host: String

  func answer() throws {
    guard operation == "get" else {
      throw CommandFailure(
        .failed,
        "Hearth does not store terraform's tokens. Sign in with \"hearthctl login\" instead of terraform login.")
    }
    let token = try HTTPURL.root("https", host).flatMap { try source.token(for: [$0.description]) }
    let answer: JSON = token.map { ["token": .string($0.token.secret.reveal())] } ?? [:]
    Output(isJSON: true).line(answer.description)
  }
}

extension Bearer {
  /// The value for an `Authorization` header (RFC 6750, section 2.1).
  var headerValue: String { "\(type) \(token.secret.reveal())" }
}
