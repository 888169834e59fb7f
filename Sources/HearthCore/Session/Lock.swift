/// A lock on a session. A session can have several locks at once, and removing one leaves the others in place. The
/// raw value is the `reason` in the status.
package enum Lock: String, Sendable, CaseIterable {
  case user = "lockedByUser"
  case screen = "screenLocked"
  case suspend = "suspended"

  /// The lock's name in `lock_on`, or `nil` for a lock that applies to every account.
  var configuredName: String? {
    switch self {
    case .user: nil
    case .screen: "screen-lock"
    case .suspend: "suspend"
    }
  }

  /// Whether this version can set the lock. `lock_on` rejects other locks, because users would rely on them.
  var isSupported: Bool {
    switch self {
    case .user: true
    case .screen, .suspend: false
    }
  }

  var action: SessionState.Action {
    switch self {
    case .user: .unlock
    case .screen, .suspend: .wait
    }
  }

  func message(for account: AccountName) -> String {
    switch self {
    case .user: "Locked. \(action.advice(account))"
    case .screen: "Locked with the screen."
    case .suspend: "Locked until the machine is awake."
    }
  }
}
