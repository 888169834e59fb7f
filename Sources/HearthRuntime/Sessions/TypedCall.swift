package import HearthCore

/// A call to a session, with the type of its answer.
package struct TypedCall<Answer: Sendable>: Sendable {
  let kind: SessionCall
  /// Returns the answer in the machine's response, or `nil` if this response does not belong to the call.
  let answer: @Sendable (SessionResponse) -> Answer?
}

extension TypedCall<Bearer> {
  package static func token(minValidity: Duration?) -> Self {
    Self(kind: .token(minValidity: minValidity)) { if case .token(let bearer) = $0 { bearer } else { nil } }
  }
}

extension TypedCall<Bearer?> {
  /// If the 401 concerns only one request, the answer is the same token.
  package static func reportUnauthorized(_ rejection: APIRejection) -> Self {
    Self(kind: .reportUnauthorized(rejection)) { response in
      switch response {
      case .token(let bearer): .some(bearer)
      case .done: .some(nil)
      case .signedOut, .rejected: nil
      }
    }
  }
}

extension TypedCall<(credentials: [Credential], isComplete: Bool)> {
  /// See `SessionResponse.signedOut`.
  package static func signOut(revoke: Bool) -> Self {
    Self(kind: .signOut(revoke: revoke)) {
      if case .signedOut(let revoke, let isComplete) = $0 { (revoke, isComplete) } else { nil }
    }
  }
}

extension TypedCall<Void> {
  package static var refresh: Self { Self(.refresh) }
  package static var rehydrate: Self { Self(.rehydrate) }
  package static var awaitReading: Self { Self(.awaitReading) }
  package static func signIn(_ flow: SignInFlow, replacesLocked: Bool = false, endsEarlier: Bool = false) -> Self {
    Self(.signIn(flow, replacesLocked: replacesLocked, endsEarlier: endsEarlier))
  }
  static func adopt(_ credential: Credential, isCounted: Bool) -> Self {
    Self(.adopt(credential, isCounted: isCounted))
  }
  static func redirected(_ signIn: CallID, _ reading: RedirectReading) -> Self { Self(.redirected(signIn, reading)) }

  private init(_ kind: SessionCall) { self.init(kind: kind) { if case .done = $0 { () } else { nil } } }
}
