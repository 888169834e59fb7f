package import HearthCore

/// What a session answered to a call, and its status at that time: nobody need ask again and meet a later one.
package struct SessionAnswer: Sendable {
  package internal(set) var response: SessionResponse
  package let status: SessionStatus
  package let at: Timestamp

  /// The answer to a sign-out that ends more grants than the session knows.
  func revoking(_ others: [Credential]) -> SessionAnswer {
    guard case .signedOut(let credentials) = response else { return self }
    var answer = self
    answer.response = .signedOut(revoke: credentials + others)
    return answer
  }
}
