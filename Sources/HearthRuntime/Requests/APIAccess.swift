package import HearthCore
internal import Synchronization

/// Where the tokens of the accounts may go, and what the answers mean there: told when the configuration is read, and
/// asked by all that send or give tokens. Waits for nobody.
package final class APIAccess: Sendable {
  private let table: Mutex<[AccountName: APISettings]>

  package init(_ apis: [AccountName: APISettings] = [:]) { table = Mutex(apis) }

  package var all: [AccountName: APISettings] { table.withLock(\.self) }

  /// Nil if the account is not configured.
  package subscript(account: AccountName) -> APISettings? { table.withLock { $0[account] } }

  package func change(to apis: [AccountName: APISettings]) { table.withLock { $0 = apis } }
}
