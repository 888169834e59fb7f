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

  /// What a refresh with the grant spends; a grant without a refresh token stands for itself.
  package var spendable: Fingerprint { refreshToken ?? accessToken }

  func contains(_ fingerprint: Fingerprint?) -> Bool {
    guard let fingerprint else { return false }
    return fingerprint == accessToken || fingerprint == refreshToken || fingerprint == idToken
  }
}

/// What is remembered of an account's own grants, so that a copy that a backup or a sync program puts back is told from
/// another program's new grant. Each is named by what a refresh with it spends.
package struct GrantHistory: Hashable, Sendable {
  /// The oldest of more are forgotten.
  private static let most = 1000

  /// The grant that was stored last, or found since as another program's.
  package private(set) var current: Fingerprint?
  /// The tokens in whose place another one has come, the oldest first.
  package private(set) var former: [Fingerprint]
  /// The tokens that were signed out, or that the provider has refused: they are never used again by lying there.
  package private(set) var over: [Fingerprint]

  package init(current: Fingerprint? = nil, former: [Fingerprint] = [], over: [Fingerprint] = []) {
    (self.current, self.former, self.over) = (current, former, over)
  }

  package func isFormer(_ grant: Grant) -> Bool { former.contains(GrantMarks(grant).spendable) }

  package func isOver(_ grant: Grant) -> Bool {
    let marks = GrantMarks(grant)
    return over.contains { marks.contains($0) }
  }

  /// The grant of a sign-in, an import or a refresh has been stored: whatever it was before, it is the newest now.
  package mutating func stored(_ grant: Grant) {
    let marks = GrantMarks(grant)
    over.removeAll { marks.contains($0) }
    follow(marks.spendable, isReplaced: true)
  }

  /// The grant was found. `isOfAnotherUser`: it takes nobody's place but that in the file, so that the one before may come
  /// back.
  package mutating func found(_ grant: Grant, isOfAnotherUser: Bool) {
    if !isFormer(grant) { follow(GrantMarks(grant).spendable, isReplaced: !isOfAnotherUser) }
  }

  private mutating func follow(_ next: Fingerprint, isReplaced: Bool) {
    former.removeAll { $0 == next }
    if isReplaced, let current, current != next { former = (former + [current]).suffix(Self.most) }
    current = next
  }

  /// All of them are signed out, and those that are named.
  package mutating func signOut(_ others: [Fingerprint?]) {
    over = (over + former + ([current] + others).compactMap(\.self)).suffix(Self.most)
    (current, former) = (nil, [])
  }

  /// The provider has refused one; nil: none.
  package mutating func refuse(_ refused: Fingerprint?) {
    if let refused { over = (over + [refused]).suffix(Self.most) }
  }
}
