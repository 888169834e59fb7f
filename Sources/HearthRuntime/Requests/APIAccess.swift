package import HearthCore
internal import Synchronization

/// Where each account's tokens may be sent, and what answers mean there. Updated when the configuration is read, and
/// used by everything that sends or gives out tokens. Never waits.
package final class APIAccess: Sendable {
  private let table: Mutex<[AccountName: APISettings]>

  package init(_ apis: [AccountName: APISettings] = [:]) { table = Mutex(apis) }

  package var all: [AccountName: APISettings] { table.withLock(\.self) }

  /// The settings, or `nil` if the account is not configured.
  package subscript(account: AccountName) -> APISettings? { table.withLock { $0[account] } }

  package func change(to apis: [AccountName: APISettings]) { table.withLock { $0 = apis } }
}
