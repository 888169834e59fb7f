/// Answers the clients of oidc-agent. A server that knows how they write calls it; it knows what they ask for.
package protocol OIDCAgentHandler: Sendable {
  func answer(_ request: OIDCAgentRequest) async -> OIDCAgentAnswer
}
