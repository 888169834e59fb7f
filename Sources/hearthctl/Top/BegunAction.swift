import HearthClient
import HearthControl
import HearthCore

/// A daemon action that the user started with a key. The screen continues to update during the action.
struct BegunAction {
  /// The name of the action, such as `Refreshing work`.
  let name: String
  /// Returns the result as a sentence, or `nil` while the action is running. Throws if the daemon is unreachable.
  let result: (inout ControlClient) throws -> String?

  init(_ action: TopKey.Action, _ chosen: TopAccount, _ daemon: inout ControlClient) throws {
    let account = chosen.session.account
    switch action {
    case .lock: self = try Self("Locking \(account)", LockSessions(account), &daemon) { $0.messages(\.messageOfLock) }
    case .unlock: self = try Self("Unlocking \(account)", UnlockSessions(account), &daemon) { $0.messages() }
    case .refresh:
      self = try Self("Refreshing \(account)", RefreshSession(account), &daemon) { _ in "\(account) has a new token." }
    case .again: self = try Self(again: account, &daemon)
    case .retry:
      self = try Self("Requeuing \(account)'s dead items", RetryItems(.all(account, in: .dead)), &daemon) {
        "\($0.count.items) queued again."
      }
    // Resume only a pause that the user started, because all other pauses end automatically.
    case .pause where chosen.outbox.pausedReason == OutboxStats.pausedByUser:
      self = try Self("Resuming \(account)", ResumeOutbox(account), &daemon) { _ in "Resumed \(account)'s outbox." }
    case .pause:
      self = try Self("Pausing \(account)", PauseOutbox(account), &daemon) { _ in "Paused \(account)'s outbox." }
    }
  }

  /// Reads the credential again and then refreshes the token.
  private init(again account: AccountName, _ daemon: inout ControlClient) throws {
    var refreshing: BegunAction?
    let reading = try Self("Reading \(account) again", RehydrateSessions(account), &daemon) { read in
      read.sessions.first.flatMap { $0.state == .authenticated ? nil : $0.message } ?? ""
    }
    name = "Retrying \(account)"
    result = { daemon in
      if let refreshing { return try refreshing.result(&daemon) }
      guard let message = try reading.result(&daemon) else { return nil }
      if !message.isEmpty { return message }
      refreshing = try BegunAction("", RefreshSession(account), &daemon) { _ in "\(account) has a new token." }
      return nil
    }
  }

  private init<Method: ControlMethod>(
    _ name: String, _ method: Method, _ daemon: inout ControlClient, done: @escaping (Method.Result) -> String
  ) throws {
    self.name = name
    let call = try daemon.begin(method)
    result = { daemon in
      do {
        return try daemon.response(to: call, within: .milliseconds(5)).map { done($0.value) }
      } catch ControlClient.Failure.refused(let refusal) {
        return refusal.message
      }
    }
  }
}
