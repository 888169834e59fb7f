import HearthCore

/// The session of an account: who is signed in, with which token, and what the outbox knows about it.
struct SimulatedSession {
  enum State: String {
    case hydrating, signedIn, locked, signedOut, reauthRequired, providerLost
  }

  /// How the provider answers to a refresh.
  enum Mood: CaseIterable {
    case fine, flaky, down
  }

  let name: AccountName
  /// Whether the provider names its users.
  let isNamed: Bool
  var state = State.hydrating
  /// The state on disk while the daemon does not run.
  var keptState = State.signedOut
  var user: Name?
  /// The issuer is assumed until the provider names itself.
  var issuer = "https://assumed.example.com"
  var mood = Mood.fine
  var token = 0
  /// Whether the token has to be refreshed before it is used.
  var isExpired = false
  var isRevoked = false
  /// When a refresh after a rejection brought the token, or `nil` if something else did.
  var replacedAt: Int?

  /// What the outbox knows.
  var isReportedSendable = false
  var isSignInUntold = false
  var reportedUser: Name?
  var reportedToken: Fingerprint?

  init(_ name: AccountName, isNamed: Bool, isUnnamed: Bool = false) {
    self.name = name
    self.isNamed = isNamed
    self.isUnnamed = isUnnamed
  }

  /// If nobody has a name, the user is a sign-in, and a sign-in after a sign-out is another user.
  let isUnnamed: Bool
  var signIns = 0

  var subject: Subject? {
    if isUnnamed { return user.map { _ in .unnamed } }
    return user.map { Subject(issuer: issuer, id: $0.text) }
  }

  var former: Subject? {
    guard isNamed, issuer != "https://assumed.example.com" else { return nil }
    return user.map { Subject(issuer: "https://assumed.example.com", id: $0.text) }
  }

  var permission: OutboxPermission {
    state == .signedIn ? .sendable(under: isNamed || isUnnamed ? subject : nil) : .blocked(reason: state.rawValue)
  }

  var fingerprint: Fingerprint {
    let digits = String(token, radix: 16)
    return Fingerprint(String(repeating: "0", count: 8 - digits.count) + digits)!
  }

  var bearer: Bearer {
    Bearer(
      of: name, token: Token(secret: Secret("t\(token)"), fingerprint: fingerprint), subject: isNamed ? subject : nil,
      secrets: [])
  }
}
