import HearthControl
import HearthCore

/// Answers terraform and tofu (https://developer.hashicorp.com/terraform/internals/credentials-helpers). Both show the
/// helper's stderr and fail unless the helper exits with 0. An empty object means that Hearth does not have a token for
/// the host.
struct CredentialTerraformCall: HelperCall {
  let source: CredentialChoice
  let operation: String
  let host: String

  func validate() {}

  func answer() throws {
    guard operation == "get" else {
      throw CommandFailure(
        .failed,
        "Hearth does not store terraform's tokens. Sign in with \"hearthctl login\" instead of terraform login.")
    }
    let token = try HTTPURL.root("https", host).flatMap { try source.token(for: [$0.description]) }
    let answer: JSON = token.map { ["token": .string($0.bearer.token.secret.reveal())] } ?? [:]
    Output(isJSON: true).line(answer.description)
  }
}
