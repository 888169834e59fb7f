import HearthControl
import HearthCore

/// Answers kubectl. kubectl shows the plugin's stderr and fails unless the plugin exits with 0
/// (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins).
struct CredentialKubectlCall: HelperCall {
  let source: CredentialChoice
  /// The URL of the cluster, for clients that do not pass it.
  let url: String?

  func validate() {}

  func answer() throws {
    let asked = try ExecCredential(variable("KUBERNETES_EXEC_INFO"))
    // Prefer the server that the client reports, because the client sends the token there.
    guard let server = asked.server ?? url else {
      throw CommandFailure(
        .usage,
        "kubectl did not say which cluster is asking. Set provideClusterInfo: true beside \"command: hearthctl\" in "
          + "the kubeconfig, or add the cluster's URL to its args: [credential, kubectl, --for, https://…].")
    }
    guard let token = try source.token(for: [server]) else {
      throw CommandFailure(.failed, "\(server) is not in the api_origins of any account, so Hearth gives it no token.")
    }
    Output(isJSON: true).line(asked.answer(token.bearer).description)
  }
}
