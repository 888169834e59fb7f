import ArgumentParser
import HearthControl
import HearthCore

/// Helpers that other programs run to get a token. Each gives one for the account's `api_origins` alone.
struct CredentialVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "credential", abstract: "Give other programs a token, in the way that they ask for one.",
    subcommands: [CredentialGitVerb.self, CredentialDockerVerb.self, CredentialKubectlVerb.self])
}

struct CredentialGitVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "git", abstract: "Be a credential helper of git.",
    discussion: """
      In git's configuration, for one server: git config --global credential.https://git.example.com.helper \
      "!hearthctl credential git". Servers that are none of the api_origins get nothing, and git asks its other helpers. \
      For example:

        printf 'protocol=https\\nhost=git.example.com\\n' | hearthctl credential git get
      """)

  @OptionGroup var source: CredentialSource

  @Option(help: ArgumentHelp("The user name, where git was told none.", valueName: "name"))
  var username = "oauth2"

  @Flag(help: "As a bearer token, which git sends since version 2.46; else in place of a password.")
  var bearer = false

  @Argument(help: "What git asks for: get, store or erase.", completion: .list(["get", "store", "erase"]))
  var operation: String

  func run() throws {
    // Hearth keeps the tokens itself, and a server's 401 may mean anything: only what APIs say counts.
    guard operation == "get" else { return }
    let asked = GitCredential(String(decoding: try Input.all(), as: UTF8.self))
    guard let url = asked.url else { return }
    do {
      guard let token = try source.token(for: [url]) else { return }
      if bearer, !asked.takesBearer { throw CommandFailure(.failed, "This git knows no bearer tokens: 2.46 does.") }
      Output(isJSON: false).line(asked.answer(token.bearer, user: username, asBearer: bearer))
    } catch ControlClient.Failure.refused(let error) {
      // The server is ours: git is not to ask the person for a password instead.
      Output(isJSON: false).line("quit=1")
      throw ControlClient.Failure.refused(error)
    }
  }
}

struct CredentialDockerVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "docker", abstract: "Be a credential helper of docker, podman and others.",
    discussion: """
      As the program docker-credential-hearth, which runs: hearthctl credential docker "$@". In ~/.docker/config.json: \
      "credHelpers": {"registry.example.com": "hearth"}. For example:

        echo registry.example.com | hearthctl credential docker get
      """)

  /// What the programs take for "there is none", and then go on without (docker-credential-helpers, "errors").
  private static let none = "credentials not found in native keychain"

  @OptionGroup var source: CredentialSource

  @Option(help: ArgumentHelp("The user name, where the registry wants another one.", valueName: "name"))
  var username = "oauth2accesstoken"

  @Argument(
    help: "What docker asks for: get, list, store or erase.", completion: .list(["get", "list", "store", "erase"]))
  var operation: String

  func run() throws {
    let output = Output(isJSON: true)
    switch operation {
    case "get":
      let server =
        String(decoding: try Input.all(), as: UTF8.self).split { $0.isWhitespace }.first.map(String.init) ?? ""
      guard let token = try source.token(for: Self.urls(of: server)) else {
        output.line(Self.none)
        throw CommandFailure(.failed, nil)
      }
      let secret = token.bearer.token.secret.reveal()
      let answer: JSON = ["ServerURL": .string(server), "Username": .string(username), "Secret": .string(secret)]
      output.line(answer.description)
    case "list": output.line("{}")
    case "erase": break
    default:
      throw CommandFailure(
        .failed, "Hearth keeps no passwords of registries: sign in with \"hearthctl login\" instead of docker login.")
    }
  }

  /// Docker names a registry by its host; on this machine it may be asked without TLS.
  static func urls(of server: String) -> [String] {
    server.contains("://") ? [server] : ["https://\(server)/", "http://\(server)/"]
  }
}

struct CredentialKubectlVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kubectl", abstract: "Be a credential plugin of kubectl.",
    discussion: """
      In the user of a kubeconfig: exec: {apiVersion: client.authentication.k8s.io/v1, command: hearthctl, args: \
      [credential, kubectl], provideClusterInfo: true, interactiveMode: Never}. For example:

        hearthctl credential kubectl --account work
      """)

  @OptionGroup var source: CredentialSource

  func run() throws {
    let asked = try ExecCredential(variable("KUBERNETES_EXEC_INFO"))
    guard let server = asked.server else {
      throw CommandFailure(
        .usage, "Which cluster asks is not known: set provideClusterInfo: true where kubeconfig names hearthctl.")
    }
    guard let token = try source.token(for: [server]) else {
      throw CommandFailure(.failed, "No account has \(server) among its api_origins; the token goes nowhere else.")
    }
    Output(isJSON: true).line(asked.answer(token.bearer).description)
  }
}
