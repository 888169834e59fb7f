package import HearthCore

/// A group of events to subscribe to.
package enum EventTopic: String, CaseIterable, Sendable {
  case session, outbox, daemon
}

/// Starts a subscription and returns a snapshot. Notifications start with the first event after the snapshot, so no
/// event is missed or repeated. If the client reads too slowly, the subscription ends with `events.closed`.
package struct Subscribe: ControlMethod {
  package static let declaration = MethodDeclaration<Subscription>(
    "events.subscribe", "Return the current state, then send events as they happen.", isReadOnly: true,
    errors: [.unknownAccount])
  package static let parameters = Fields<Subscribe>(
    .optional("account", \.account, .account),
    .optional("topics", \.topics, .set(known: "session, outbox and daemon"), omitting: Set(EventTopic.allCases))
  ) { Subscribe(topics: $1, account: $0) }

  package let topics: Set<EventTopic>
  package let account: AccountName?

  package init(topics: Set<EventTopic> = Set(EventTopic.allCases), account: AccountName? = nil) {
    (self.topics, self.account) = (topics, account)
  }
}

/// A new subscription, with a snapshot of the state after event number `seq`.
package struct Subscription: WireValue {
  package static let fields = Fields<Subscription>(
    .required("subscription", \.id, .text), .required("seq", \.seq, .int),
    .within(
      "snapshot", .required("sessions", \.sessions, .array(SessionStatus.fields)),
      .required("outbox", \.outbox, .object(OutboxStats.fields)))
  ) { Subscription(id: $0, seq: $1, sessions: $2.0, outbox: $2.1) }

  package let id: String
  package let seq: Int
  package let sessions: [SessionStatus]
  package let outbox: OutboxStats

  package init(id: String, seq: Int, sessions: [SessionStatus], outbox: OutboxStats) {
    (self.id, self.seq, self.sessions, self.outbox) = (id, seq, sessions, outbox)
  }
}

package struct Unsubscribe: TextMethod {
  package static let declaration = MethodDeclaration<Empty>(
    "events.unsubscribe", "End a subscription on this connection.")
  package static let parameter = "subscription"

  package let text: String
  package init(_ text: String) { self.text = text }
}
