package import HearthCore

/// A message from the daemon to a subscriber. Its params contain `subscription`, `seq`, `time` and the event's own
/// members.
package struct Notification: Hashable, Sendable {
  package let method: String
  package let params: JSONObject

  package init(method: String, params: JSONObject) { (self.method, self.params) = (method, params) }

  package init(_ event: EventName, params: JSONObject) { self.init(method: event.rawValue, params: params) }

  /// Returns `nil` if the JSON is not a notification.
  package init?(json: JSON) {
    guard json["jsonrpc"] == "2.0", json["id"] == nil, let method = json["method"]?.string else { return nil }
    self.init(method: method, params: json["params"]?.object ?? [:])
  }

  package var json: JSON { ["method": .string(method), "params": .object(params)] }
}

extension Notification {
  /// The event, or `nil` if this version does not know it.
  package var event: EventName? { EventName(rawValue: method) }

  package var time: String? { params["time"]?.string }
  package var session: SessionStatus? { params["session"].flatMap { SessionStatus(json: $0) } }
  package var item: OutboxItem? { params["item"].flatMap { OutboxItem(json: $0) } }

  /// The names and values of the event's own members, except nulls.
  package var details: [(name: String, value: String)] {
    params.members.filter { !["subscription", "seq", "time"].contains($0.key) && !$0.value.isNull }
      .map { ($0.key, $0.value.string ?? $0.value.description) }
  }
}
