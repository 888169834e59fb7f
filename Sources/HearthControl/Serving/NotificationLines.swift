/// Lines of one subscription that are written together.
package struct NotificationLines: Sendable {
  /// With the end of each.
  package private(set) var bytes: [UInt8]
  package private(set) var count: Int

  package init(bytes: [UInt8] = [], count: Int = 0) {
    self.bytes = bytes
    self.count = count
  }

  package mutating func append(_ notification: SharedNotification, for subscription: String) {
    notification.append(to: &bytes, for: subscription)
    count += 1
  }
}
