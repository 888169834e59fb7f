/// The time by which items expire. It is the caller's and not the store's: `expiresAt` is a time of the world, and no item is
/// to be lost because one clock alone is ahead.
package enum ExpiryTime: Hashable, Sendable {
  /// Servers agree to it.
  case agreed(Timestamp)
  /// No server has confirmed it: what is past its `expiresAt` then seems to have expired.
  case unconfirmed(Timestamp)

  var time: Timestamp {
    switch self {
    case .agreed(let time), .unconfirmed(let time): time
    }
  }
}
