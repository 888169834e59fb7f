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
        "kubectl did not pass the cluster's URL. Set provideClusterInfo: true beside \"command: hearthctl\" in the "
          + "kubeconfig, or add the URL to the args: [credential, kubectl, --for, https://…].")
    }
    guard let token = try source.token(for: [server]) else {
      throw CommandFailure(
        .failed,
        "No account has the origin of \(server) in its api_origins. Add it with \"hearthctl account set NAME --add "
          + "api_origins URL\".")
    }
    Output(isJSON: true).line(asked.answer(token.bearer).description)
  }
}
