import HearthControl
import HearthCore

/// The request of kubectl and other Kubernetes clients to a credential plugin, and the answer
/// (client.authentication.k8s.io, "ExecCredential").
struct ExecCredential {
  private static let versions = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"]

  let version: String
  /// The URL of the cluster; `nil` if the client is not configured to pass it.
  let server: String?

  /// Reads `KUBERNETES_EXEC_INFO`, which is unset if a person tries the plugin out. Throws if it is not an
  /// ExecCredential or has an unknown version.
  init(_ info: String?) throws {
    guard let info else {
      (version, server) = (Self.versions[0], nil)
      return
    }
    guard let json = try? JSON(parsing: Array(info.utf8)), let version = json["apiVersion"]?.string else {
      throw CommandFailure(.usage, "KUBERNETES_EXEC_INFO is not an ExecCredential.")
    }
    guard Self.versions.contains(version) else {
      throw CommandFailure(
        .usage, "The version \(version) of ExecCredential is not supported: set apiVersion: \(Self.versions[0]).")
    }
    self.version = version
    server = json["spec"]?["cluster"]?["server"]?.string
  }

  func answer(_ bearer: Bearer) -> JSON {
    var status: JSONObject = ["token": .string(bearer.token.secret.reveal())]
    if let expiresAt = bearer.expiresAt { status["expirationTimestamp"] = .string(expiresAt.description) }
    return ["apiVersion": .string(version), "kind": "ExecCredential", "status": .object(status)]
  }
}
