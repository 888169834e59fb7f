import HearthControl
import HearthCore

enum Samples {
  static let start = Timestamp(rfc3339: "2026-11-21T10:00:00Z")!

  static func session(
    _ account: String = "work", state: SessionState = .authenticated, message: String = "Signed in.",
    health: SessionStatus.TokenLife.Health? = .fresh, remaining: Int? = 3085, subject: String = "2482"
  ) -> SessionStatus {
    var status = SessionStatus(
      account: AccountName(account)!, state: state, message: message, since: start, isReadable: true)
    status.subject = Subject(issuer: "https://id.example.com", id: subject)
    status.action = state.action
    (status.history.lastAt, status.history.lastOutcome) = (start, .success)
    guard let health else { return status }
    var token = SessionStatus.TokenLife(
      Fingerprint("9f86d081")!, health: health, remaining: remaining.map { .seconds($0) })
    (token.expiresAt, token.lifetime) = (start + .seconds(3600), .seconds(3600))
    token.refreshAt = start + .seconds(2940)
    status.token = token
    return status
  }

  static let locked = session(
    state: .locked(.explicit(.user)), message: "Locked. Run \"hearthctl unlock work\".", health: nil)

  static let signedOut = session(
    "home", state: .unauthenticated(signedOut: false),
    message: "Sign in required. Run \"hearthctl login home\".", health: nil)

  static let expired = session(message: "Signed in.", health: .expired, remaining: -120)

  static let item = OutboxItem(
    id: "item-1", account: AccountName("work")!, subject: nil, lane: "default", method: "POST",
    url: "https://api.example.com/a", state: .waiting, attempts: 2, createdAt: start, lastStatus: 503,
    idempotencyKey: "k", bytes: 12)

  /// An item whose API has not been reached so far.
  static let unreached = OutboxItem(
    id: "item-1", account: AccountName("work")!, subject: nil, lane: "default", method: "POST",
    url: "https://api.example.com/a", state: .waiting, attempts: 0, createdAt: start,
    nextAttemptAt: start + .seconds(560), lastError: "https://api.example.com: Connection refused",
    idempotencyKey: "k", bytes: 12)

  static func stats(
    pending: Int = 0, waiting: Int = 0, held: Int = 0, dead: Int = 0, pausedReason: String? = nil
  ) -> OutboxStats {
    var stats = OutboxStats()
    (stats.pending, stats.waiting, stats.held, stats.dead) = (pending, waiting, held, dead)
    (stats.isPaused, stats.pausedReason) = (pausedReason != nil, pausedReason)
    return stats
  }

  static let subscription: JSON = [
    "subscription": "s", "seq": 0, "snapshot": ["sessions": [], "outbox": stats().json],
  ]

  static let token: JSON = [
    "account": "work", "accessToken": "secret", "tokenType": "Bearer", "expiresAt": nil, "fingerprint": "9f86d081",
    "subject": nil, "issuer": nil,
  ]
}

extension SessionStatus {
  /// As a client is told it: the samples say themselves how their tokens are.
  var json: JSON { json(at: Samples.start) }
}
