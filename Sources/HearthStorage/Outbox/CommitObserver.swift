internal import HearthCore
internal import Synchronization

/// The receiver of all commits that are not empty. It can be set before or after the database is opened.
final class CommitObserver: Sendable {
  private let receive = Mutex<(@Sendable (OutboxCommit) -> Void)?>(nil)

  func set(_ receive: @escaping @Sendable (OutboxCommit) -> Void) {
    self.receive.withLock { $0 = receive }
  }

  var isThere: Bool { receive.withLock { $0 != nil } }

  func callAsFunction(_ commit: OutboxCommit) {
    guard !commit.isEmpty, let receive = receive.withLock(\.self) else { return }
    receive(commit)
  }
}
