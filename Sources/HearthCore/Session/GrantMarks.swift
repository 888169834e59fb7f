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

/// The history of an account's grants. It distinguishes a copy that a backup or a sync program restores from another
/// program's new grant. Each grant is identified by the token that a refresh spends.
package struct GrantHistory: Hashable, Sendable {
  /// The maximum number of remembered tokens; the oldest are forgotten.
  private static let most = 1000

  /// The grant that was last stored, or another program's grant that was found later.
  package private(set) var current: Fingerprint?
  /// The tokens that a newer one has replaced, oldest first.
  package private(set) var former: [Fingerprint]
  /// The tokens that were signed out or refused by the provider. If one reappears in the file, it is not used.
  package private(set) var over: [Fingerprint]

  package init(current: Fingerprint? = nil, former: [Fingerprint] = [], over: [Fingerprint] = []) {
    (self.current, self.former, self.over) = (current, former, over)
  }

  package func isFormer(_ grant: Grant) -> Bool { former.contains(GrantMarks(grant).spendable) }

  package func isOver(_ grant: Grant) -> Bool {
    let marks = GrantMarks(grant)
    return over.contains { marks.contains($0) }
  }

  /// Called when a sign-in, an import or a refresh has stored its grant, which is now the newest.
  package mutating func stored(_ grant: Grant) {
    let marks = GrantMarks(grant)
    over.removeAll { marks.contains($0) }
    follow(marks.spendable, isReplaced: true)
  }

  /// Called when the grant was found in the file. A grant of another user does not mark the previous one as replaced,
  /// because the previous user's grant may return to the file.
  package mutating func found(_ grant: Grant, isOfAnotherUser: Bool) {
    if !isFormer(grant) { follow(GrantMarks(grant).spendable, isReplaced: !isOfAnotherUser) }
  }

  private mutating func follow(_ next: Fingerprint, isReplaced: Bool) {
    former.removeAll { $0 == next }
    if isReplaced, let current, current != next { former = (former + [current]).suffix(Self.most) }
    current = next
  }

  /// Records that all remembered grants and the `others` are signed out.
  package mutating func signOut(_ others: [Fingerprint?]) {
    over = (over + former + ([current] + others).compactMap(\.self)).suffix(Self.most)
    (current, former) = (nil, [])
  }

  /// Records that the provider has refused this token, if there is one.
  package mutating func refuse(_ refused: Fingerprint?) {
    if let refused { over = (over + [refused]).suffix(Self.most) }
  }
}
