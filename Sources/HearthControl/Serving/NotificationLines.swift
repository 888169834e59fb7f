/// Lines of one subscription that are written together.
package struct NotificationLines: Sendable {
  /// With the end of each.
  package private(set) var bytes: [UInt8]
  package private(set) var count: Int

  package init(bytes: [UInt8], count: Int) {
    self.bytes = bytes
    self.count = count
  }

  package init(_ notifications: [SharedNotification], for subscription: String) {
    let name = JSON.string(subscription).bytes
    bytes = []
    bytes.reserveCapacity(notifications.reduce(0) { $0 + $1.count(for: name) })
    for notification in notifications { notification.append(to: &bytes, for: name) }
    count = notifications.count
  }
}
