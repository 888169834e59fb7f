/// What the daemon tells without being asked: `subscription`, `seq`, `time` and what happened.
package struct Notification: Hashable, Sendable {
  package let method: String
  package let params: JSONObject

  package init(method: String, params: JSONObject) {
    self.method = method
    self.params = params
  }

  package init(_ event: Event, params: JSONObject) {
    self.init(method: event.rawValue, params: params)
  }

  /// Nil where it is no notification.
  package init?(json: JSON) {
    guard json["jsonrpc"] == "2.0", json["id"] == nil, let method = json["method"]?.string else { return nil }
    self.init(method: method, params: json["params"]?.object ?? [:])
  }

  /// The line, with its end.
  package var line: [UInt8] {
    let json: JSON = ["jsonrpc": "2.0", "method": .string(method), "params": .object(params)]
    return json.bytes + [UInt8(ascii: "\n")]
  }
}
