package import HearthCore
internal import Synchronization

/// A table of the places to which each account's tokens may be sent, and of the rules for answers from there. It is
/// updated whenever the configuration is read. Everything that sends or returns tokens uses it. Never blocks.
package final class APIAccess: Sendable {
  private let table: Mutex<[AccountName: APISettings]>

  package init(_ apis: [AccountName: APISettings] = [:]) { table = Mutex(apis) }

  package var all: [AccountName: APISettings] { table.withLock(\.self) }

  /// The account's settings, or `nil` if the account is not configured.
  package subscript(account: AccountName) -> APISettings? { table.withLock { $0[account] } }

  package func change(to apis: [AccountName: APISettings]) { table.withLock { $0 = apis } }
}
