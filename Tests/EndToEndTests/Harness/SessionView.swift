import HearthControl
import TestSupport

/// A `SessionStatus` on the wire, read without the model of the programs under test.
struct SessionView {
  let json: JSON

  init(_ json: JSON) throws {
    self.json = json
    guard json["state"]?.string != nil, json["message"]?.string != nil, json["refresh"]?["failures"]?.int != nil,
      json["credential"]?["readable"]?.bool != nil
    else { throw NeverHappened(description: "This is no SessionStatus: \(json)") }
  }

  var state: String { json["state"]?.string ?? "" }
  var reason: String? { json["reason"]?.string }
  var message: String { json["message"]?.string ?? "" }
  var action: String? { json["action"]?.string }
  var route: String { json["route"]?.string ?? "" }
  var subject: String? { json["subject"]?.string }
  var token: TokenView? { json["token"].flatMap { $0.isNull ? nil : TokenView(json: $0) } }
  var refresh: RefreshView { RefreshView(json: json["refresh"] ?? .null) }
  var credential: CredentialView { CredentialView(json: json["credential"] ?? .null) }
}

struct TokenView {
  let json: JSON
  var health: String { json["health"]?.string ?? "" }
  var fingerprint: String { json["fingerprint"]?.string ?? "" }
}

struct RefreshView {
  let json: JSON
  var failures: Int { json["failures"]?.int ?? 0 }
  var lastError: String? { json["lastError"]?.string }
  var nextAttemptAt: String? { json["nextAttemptAt"]?.string }
}

struct CredentialView {
  let json: JSON
  var readable: Bool { json["readable"]?.bool ?? false }
  var pendingWrite: Bool { json["pendingWrite"]?.bool ?? true }
  var error: String? { json["error"]?.string }
}
