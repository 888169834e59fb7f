package import HearthCore
internal import Synchronization

/// The API settings of each account, including the origins to which the account's tokens may be sent. Every request
/// with a token is checked against these settings. A new configuration replaces them. Never blocks.
package final class APIAccess: Sendable {
  private let table: Mutex<[AccountName: APISettings]>

  package init(_ apis: [AccountName: APISettings] = [:]) { table = Mutex(apis) }

  package var all: [AccountName: APISettings] { table.withLock(\.self) }

  /// The account's settings, or `nil` if the account is not configured.
  package subscript(account: AccountName) -> APISettings? { table.withLock { $0[account] } }

  package func change(to apis: [AccountName: APISettings]) { table.withLock { $0 = apis } }
}
