/// Who set a lock. Locks are a set: each is removed by the one who set it. The raw value is the `reason` of the status.
package enum Lock: String, Sendable, CaseIterable {
  case user = "lockedByUser"
  case screen = "screenLocked"
  case suspend = "suspended"

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
