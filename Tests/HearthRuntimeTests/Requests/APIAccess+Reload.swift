import HearthCore

@testable import HearthRuntime

/// What a reload does, for one service alone.
extension OutboxService {
  func reload(_ apis: [AccountName: APISettings], _ settings: OutboxSettings = OutboxSettings()) {
    access.change(to: apis)
    accountsChanged(settings: settings)
  }
}

extension RequestService {
  func reload(_ apis: [AccountName: APISettings]) async {
    access.change(to: apis)
    await accountsChanged(maxBody: 100)
  }
}
