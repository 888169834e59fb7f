import HearthControl

enum Samples {
  static func session(
    _ account: String = "work", state: String = "authenticated", reason: String? = nil, message: String = "Signed in.",
    action: String? = nil, health: String? = "fresh", remaining: Int? = 3085,
    subject: String = "2482"
  ) -> SessionStatusReport {
    SessionStatusReport(
      account: account, subject: subject, issuer: "https://id.example.com", state: state, reason: reason,
      message: message, action: action, route: "main", since: "2026-11-21T10:00:00.000Z",
      token: health.map {
        .init(
          expiresAt: "2026-11-21T11:00:00.000Z", remainingSeconds: remaining, lifetimeSeconds: 3600,
          refreshAt: "2026-11-21T10:49:00.000Z", refreshExpiresAt: nil, health: $0, fingerprint: "9f86d081")
      },
      refresh: .init(lastAt: "2026-11-21T10:00:00.000Z", lastResult: "success"), credential: .init(readable: true))
  }

  static let locked = session(
    state: "locked", reason: "lockedByUser", message: "Locked. Run \"hearthctl unlock work\".", action: "unlock",
    health: nil)

  static let signedOut = session(
    "home", state: "unauthenticated", reason: "neverSignedIn",
    message: "Sign in required. Run \"hearthctl login home\".", action: "signIn", health: nil)

  static let expired = session(message: "Signed in.", health: "expired", remaining: -120)

  static let item = OutboxItemReport(
    id: "item-1", account: "work", subject: "2482", lane: "default", method: "POST", url: "https://api.example.com/a",
    state: "waiting", reason: nil, attempts: 2, createdAt: "2026-11-21T10:00:00.000Z", nextAttemptAt: nil,
    lastStatus: 503, lastError: nil, idempotencyKey: "k", bytes: 12)
}
