import ArgumentParser

/// A verb that `PlainLine` can also parse.
protocol CallVerb: ParsableCommand {
  associatedtype Call: PlainCall
  var call: Call { get }
}

extension CallVerb {
  func validate() throws { try call.validate() }

  func run() throws { try call.run() }
}

/// Credential helpers for other programs. They print a token only for the account's `api_origins`.
struct CredentialVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "credential", abstract: "Give other programs a token in the form that they expect.",
    subcommands: [
      CredentialGitVerb.self, CredentialDockerVerb.self, CredentialKubectlVerb.self, CredentialGoogleVerb.self,
      CredentialGoauthVerb.self, CredentialBazelVerb.self, CredentialTerraformVerb.self,
    ])
}

struct CredentialGitVerb: CallVerb {
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

  var call: CredentialGitCall {
    CredentialGitCall(source: source.choice, username: username, bearer: bearer, operation: operation)
  }
}

struct CredentialDockerVerb: CallVerb {
  static let configuration = CommandConfiguration(
    commandName: "docker", abstract: "Act as a credential helper for docker, podman and similar tools.",
    discussion: """
      Docker calls the program docker-credential-hearth, which runs: hearthctl credential docker "$@". To use it for a \
      registry, add to ~/.docker/config.json: "credHelpers": {"registry.example.com": "hearth"}. For example:

        echo registry.example.com | hearthctl credential docker get
      """)

  @OptionGroup var source: CredentialSource

  @Option(help: ArgumentHelp("User name, if the registry requires a specific one.", valueName: "name"))
  var username = CredentialDockerCall.username

  @Argument(
    help: "Action: get, list, store or erase.", completion: .list(["get", "list", "store", "erase"]))
  var operation: String

  var call: CredentialDockerCall {
    CredentialDockerCall(source: source.choice, username: username, operation: operation)
  }
}

struct CredentialKubectlVerb: CallVerb {
  static let configuration = CommandConfiguration(
    commandName: "kubectl", abstract: "Act as a credential plugin for kubectl.",
    discussion: """
      To use it, add to a user in the kubeconfig: exec: {apiVersion: client.authentication.k8s.io/v1, command: \
      hearthctl, args: [credential, kubectl], provideClusterInfo: true, interactiveMode: Never}. For clients that do \
      not support provideClusterInfo, add the cluster's URL: args: [credential, kubectl, --for, \
      "https://k8s.example.com:6443"]. For example:

        hearthctl credential kubectl --account work --for https://k8s.example.com:6443
      """)

  @OptionGroup var source: CredentialSource

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("URL of the cluster, for clients that do not pass it.", valueName: "url"))
  var url: String?

  var call: CredentialKubectlCall { CredentialKubectlCall(source: source.choice, url: url) }
}

struct CredentialGoogleVerb: CallVerb {
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

  @OptionGroup var source: CredentialSource

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("token_url of the configuration, if it is not the default.", valueName: "url"))
  var url = CredentialGoogleCall.url

  var call: CredentialGoogleCall { CredentialGoogleCall(source: source.choice, url: url) }
}

struct CredentialGoauthVerb: CallVerb {
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

  var call: CredentialGoauthCall { CredentialGoauthCall(source: source.choice, server: server, url: url) }
}

struct CredentialBazelVerb: CallVerb {
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

  var call: CredentialBazelCall { CredentialBazelCall(source: source.choice, operation: operation) }
}

struct CredentialTerraformVerb: CallVerb {
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

  var call: CredentialTerraformCall {
    CredentialTerraformCall(source: source.choice, operation: operation, host: host)
  }
}
