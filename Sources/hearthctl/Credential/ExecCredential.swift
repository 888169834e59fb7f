import HearthControl
import HearthCore

/// A Kubernetes client's request to a credential plugin, and the answer (client.authentication.k8s.io,
/// "ExecCredential").
struct ExecCredential {
  private static let versions = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"]

  let version: String
  /// The URL of the cluster, or `nil` if the client is not configured to pass it.
  let server: String?

  /// Parses `KUBERNETES_EXEC_INFO`, which is not set if a user runs the plugin by hand. Throws if the value is not an
  /// ExecCredential of a known version.
  init(_ info: String?) throws {
    guard let info else {
      (version, server) = (Self.versions[0], nil)
      return
    }
    guard let json = try? JSON(parsing: Array(info.utf8)), let version = json["apiVersion"]?.string else {
      throw CommandFailure(.usage, "KUBERNETES_EXEC_INFO does not contain an ExecCredential.")
    }
    guard Self.versions.contains(version) else {
      throw CommandFailure(
        .usage, "The ExecCredential version \(version) is not supported. Set apiVersion: \(Self.versions[0]).")
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
