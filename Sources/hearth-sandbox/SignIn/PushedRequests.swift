import FoundationEssentials

/// Pushed authorization requests (RFC 9126). Each can be used once, within a minute.
struct PushedRequests: Codable, Sendable {
  static let lifetime: Double = 60

  private struct Entry: Codable, Sendable {
    let request: AuthorizationRequest
    let expiresAt: Date
  }

  private var entries: [String: Entry] = [:]

  mutating func add(_ request: AuthorizationRequest, at now: Date) -> String {
    let uri = "urn:ietf:params:oauth:request_uri:" + randomToken("par")
    entries[uri] = Entry(request: request, expiresAt: now.addingTimeInterval(Self.lifetime))
    return uri
  }

  /// Removes a request and returns it. Returns `nil` if the request is unknown, expired or from another client.
  mutating func take(_ uri: String, clientID: String?, at now: Date) -> AuthorizationRequest? {
    guard let entry = entries[uri], entry.request.clientID == clientID else { return nil }
    entries[uri] = nil
    return now < entry.expiresAt ? entry.request : nil
  }
}
