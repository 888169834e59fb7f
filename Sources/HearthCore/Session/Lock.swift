/// A lock on a session. Several may be set at once, and only the one who set a lock removes it. The raw value is the
/// `reason` in the status.
package enum Lock: String, Sendable, CaseIterable {
  case user = "lockedByUser"
  case screen = "screenLocked"
  case suspend = "suspended"

  /// Its name in an account's `lock_on`. A lock without a name applies to every account.
  var configuredName: String? {
    switch self {
    case .user: nil
    case .screen: "screen-lock"
    case .suspend: "suspend"
    }
  }

  /// Whether this version sets the lock. `lock_on` refuses other locks, since users would rely on them.
  var isSupported: Bool {
    switch self {
    case .user: true
    case .screen, .suspend: false
    }
  }

  /// What the user should do.
  var action: SessionState.Action {
    switch self {
    case .user: .unlock
    case .screen, .suspend: .wait
    }
  }

  func message(for account: AccountName) -> String {
    switch self {
    case .user: "Locked. Run \"hearthctl unlock \(account)\"."
    case .screen: "Locked with the screen."
    case .suspend: "Locked until the machine is awake."
    }
  }
}
