/// A lock on a session. Several may be set at once, and each is removed by the one who set it. The raw value is the
/// `reason` of the status.
package enum Lock: String, Sendable, CaseIterable {
  case user = "lockedByUser"
  case screen = "screenLocked"
  case suspend = "suspended"

  /// Its name in an account's `lock_on`. Nil: every account obeys it.
  var configuredName: String? {
    switch self {
    case .user: nil
    case .screen: "screen-lock"
    case .suspend: "suspend"
    }
  }

  /// Whether this version ever sets it. `lock_on` refuses a lock that nothing sets, because somebody would rely on it.
  var isSupported: Bool {
    switch self {
    case .user: true
    case .screen, .suspend: false
    }
  }

  /// What a person should do.
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
