package import HearthCore

/// What a subscription is about.
package enum EventTopic: String, CaseIterable, Sendable {
  case session, outbox, daemon
}

/// The answer is a snapshot, and comes before the first notification: nothing is told twice, and nothing is missing.
package struct Subscribe: ControlMethod {
  package static let declaration = MethodDeclaration<Subscription>(
    "events.subscribe", "Be told what happens from now on.", errors: [.unknownAccount])

  package let topics: Set<EventTopic>
  package let account: AccountName?

  package init(topics: Set<EventTopic> = Set(EventTopic.allCases), account: AccountName? = nil) {
    self.topics = topics
    self.account = account
  }

  package init(reading params: inout ParameterReader) throws(RPCError) {
    let names = try params.optionalStrings("topics")
    let account = try params.optionalString("account")
    try params.finish()
    var topics = Set(EventTopic.allCases)
    if let names {
      topics = []
      for name in names {
        guard let topic = EventTopic(rawValue: name) else {
          throw .invalidParams("The parameter \"topics\" has \"\(name)\"; there are session, outbox and daemon.")
        }
        topics.insert(topic)
      }
    }
    self.init(
      topics: topics, account: try AccountName.asked(account))
  }

  package var params: JSONObject {
    let isEverything = topics.count == EventTopic.allCases.count
    return JSON.members([
      "account": account.map { .string($0.description) },
      "topics": isEverything
        ? nil : .array(EventTopic.allCases.filter(topics.contains).map { .string($0.rawValue) }),
    ])
  }
}

/// A subscription, and how things are at the event of this number.
package struct Subscription: WireValue {
  package let id: String
  package let seq: Int
  package let sessions: [SessionStatus]
  package let outbox: OutboxStats

  package init(id: String, seq: Int, sessions: [SessionStatus], outbox: OutboxStats) {
    self.id = id
    self.seq = seq
    self.sessions = sessions
    self.outbox = outbox
  }

  package func json(at now: Timestamp) -> JSON {
    [
      "subscription": .string(id), "seq": JSON(seq),
      "snapshot": ["sessions": .array(sessions.map { $0.json(at: now) }), "outbox": outbox.json],
    ]
  }

  package init?(json: JSON) {
    guard let id = json["subscription"]?.string, let seq = json["seq"]?.int,
      let sessions: [SessionStatus] = json["snapshot"]?["sessions"]?.values(),
      let outbox = json["snapshot"]?["outbox"].flatMap({ OutboxStats(json: $0) })
    else { return nil }
    self.init(id: id, seq: seq, sessions: sessions, outbox: outbox)
  }
}

package struct Unsubscribe: TextMethod {
  package static let declaration = MethodDeclaration<Empty>(
    "events.unsubscribe", "End a subscription of this connection.")
  package static let parameter = "subscription"

  package let text: String
  package init(_ text: String) { self.text = text }
}
