package import HearthCore

/// Encoded notifications of one subscription, to be written together.
package struct NotificationLines: Sendable {
  package private(set) var bytes: [UInt8]
  package private(set) var count: Int

  package init(bytes: [UInt8], count: Int) { (self.bytes, self.count) = (bytes, count) }

  package init(_ notifications: [SharedNotification], for subscription: String) {
    let name = JSON.string(subscription).bytes
    bytes = []
    bytes.reserveCapacity(notifications.reduce(0) { $0 + $1.count(for: name) })
    for notification in notifications { notification.append(to: &bytes, for: name) }
    count = notifications.count
  }
}

/// A notification for many subscribers, encoded once except for the name of the subscription.
package struct SharedNotification: Sendable {
  private let beforeName: [UInt8]
  private let afterName: [UInt8]

  /// Encodes a notification. `params` must not be empty, because `subscription` is inserted before its first member.
  package init(_ event: EventName, params: JSONObject) {
    beforeName =
      Array(#"{"jsonrpc":"2.0","method":"#.utf8) + JSON.string(event.rawValue).bytes
      + Array(#","params":{"subscription":"#.utf8)
    afterName = [UInt8(ascii: ",")] + JSON.object(params).bytes.dropFirst() + Array("}\n".utf8)
  }

  /// Returns the length of the line for one subscription. `name` is its encoded name.
  func count(for name: [UInt8]) -> Int { beforeName.count + name.count + afterName.count }

  /// Appends the line for one subscription, including the newline. `name` is its encoded name.
  func append(to lines: inout [UInt8], for name: [UInt8]) {
    lines += beforeName
    lines += name
    lines += afterName
  }
}
