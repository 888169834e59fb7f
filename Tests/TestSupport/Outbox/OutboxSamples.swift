package import HearthCore

/// Sample values for tests of the outbox.
package enum Sample {
  package static let work = AccountName("work")!
  package static let other = AccountName("other")!
  package static let alice = Subject(issuer: "https://id.example.com", id: "alice")
  package static let bob = Subject(issuer: "https://id.example.com", id: "bob")
  package static let url = try? HTTPURL("https://api.example.com/notes")
  package static let origin = url!.origin
  package static let secondOrigin = (try? HTTPURL("https://second.example.com/"))!.origin
  package static let start = Timestamp(rfc3339: "2026-11-21T10:00:00Z")!

  package static func draft(
    _ path: String = "/notes", account: AccountName = work, method: String = "POST", body: String = "",
    lane: String? = "default", key: String? = nil, replaceKey: String? = nil, notBefore: Timestamp? = nil,
    expiresAt: Timestamp? = nil, origin: String = "https://api.example.com"
  ) -> OutboxDraft {
    OutboxDraft(
      account: account, method: method, url: origin + path, body: Array(body.utf8), lane: Name(lane ?? "default"),
      isUnordered: lane == nil, idempotencyKey: key, replaceKey: replaceKey.map { Name($0) }, notBefore: notBefore,
      expiresAt: expiresAt)
  }
}

extension OutboxSettings {
  package static func limits(items: Int, bytes: Int) -> OutboxSettings {
    var settings = OutboxSettings()
    (settings.maxItems, settings.maxBytes) = (items, bytes)
    return settings
  }

  package static func keeping(delivered: Duration, dead: Duration, maxFinished: Int) -> OutboxSettings {
    var settings = OutboxSettings()
    (settings.keepDelivered, settings.keepDead, settings.maxItems) = (delivered, dead, maxFinished)
    return settings
  }
}

extension OutboxDemand {
  /// The same room for each origin. Those in `probed` could not be reached.
  package init(
    account: AccountName, subject: Subject?, lanes: Int, unordered: Int, unanswered: Int = .max, bytes: Int = .max,
    takesFollowers: Bool, open: Set<Origin>, probed: Set<Origin> = [], configured: Set<Origin>, expiry: ExpiryTime,
    policy: DeliveryPolicy
  ) {
    let room = Room(
      lanes: lanes, unordered: unordered, unanswered: unanswered, bytes: bytes, takesFollowers: takesFollowers)
    var rooms = open.reduce(into: [:]) { $0[$1] = room }
    for origin in probed {
      rooms[origin] = room
      rooms[origin]?.isProbe = true
    }
    self.init(
      account: account, subject: subject, rooms: rooms, configured: configured, expiry: expiry, policy: policy)
  }
}
