/// Identifies a grant without its secrets.
package struct GrantMarks: Hashable, Sendable {
  let accessToken: Fingerprint
  let refreshToken: Fingerprint?
  let idToken: Fingerprint?

  package init(_ grant: Grant) {
    accessToken = grant.accessToken.fingerprint
    refreshToken = grant.refreshToken?.fingerprint
    idToken = grant.idToken?.fingerprint
  }

  /// The token that a refresh spends: the refresh token or, without one, the access token.
  package var spendable: Fingerprint { refreshToken ?? accessToken }

  package func contains(_ fingerprint: Fingerprint?) -> Bool {
    guard let fingerprint else { return false }
    return fingerprint == accessToken || fingerprint == refreshToken || fingerprint == idToken
  }
}

/// The history of an account's grants. It shows whether a grant in the file is an old copy that a backup or sync
/// program has restored, or another program's new grant. Each grant is identified by the token that a refresh spends.
package struct GrantHistory: Hashable, Sendable {
  /// The maximum number of tokens in each list. Beyond that number, the oldest tokens are forgotten.
  private static let most = 1000

  /// The token of the grant that was last stored, or of another program's grant that was found later.
  package private(set) var current: Fingerprint?
  /// The tokens that newer tokens have replaced, oldest first.
  package private(set) var former: [Fingerprint]
  /// The tokens that were signed out or refused by the provider. If such a token reappears in the file, Hearth does not
  /// use it.
  package private(set) var over: [Fingerprint]

  package init(current: Fingerprint? = nil, former: [Fingerprint] = [], over: [Fingerprint] = []) {
    (self.current, self.former, self.over) = (current, former, over)
  }

  package func isFormer(_ grant: Grant) -> Bool { former.contains(GrantMarks(grant).spendable) }

  package func isOver(_ grant: Grant) -> Bool {
    let marks = GrantMarks(grant)
    return over.contains { marks.contains($0) }
  }

  /// Records the newest grant, after a sign-in, an import or a refresh has stored it.
  package mutating func stored(_ grant: Grant) {
    let marks = GrantMarks(grant)
    over.removeAll { marks.contains($0) }
    follow(marks.spendable, isReplaced: true)
  }

  /// Records a grant that was found in the file, unless a newer one has replaced it. Another user's grant does not
  /// mark the previous grant as replaced, because the previous user's grant may return to the file.
  package mutating func found(_ grant: Grant, isOfAnotherUser: Bool) {
    if !isFormer(grant) { follow(GrantMarks(grant).spendable, isReplaced: !isOfAnotherUser) }
  }

  private mutating func follow(_ next: Fingerprint, isReplaced: Bool) {
    former.removeAll { $0 == next }
    if isReplaced, let current, current != next { former = (former + [current]).suffix(Self.most) }
    current = next
  }

  /// Records that the user has signed out of all remembered grants and of `others`.
  package mutating func signOut(_ others: [Fingerprint?]) {
    over = (over + former + ([current] + others).compactMap(\.self)).suffix(Self.most)
    (current, former) = (nil, [])
  }

  /// Records that the provider has refused this token. `nil` has no effect.
  package mutating func refuse(_ refused: Fingerprint?) {
    if let refused { over = (over + [refused]).suffix(Self.most) }
  }
}
