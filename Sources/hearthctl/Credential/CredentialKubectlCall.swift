import HearthControl
import HearthCore

/// What kubectl asks of its credential plugin.
struct CredentialKubectlCall: PlainCall {
  let source: CredentialChoice

  func validate() {}

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
