import HearthCore
import HearthLinux
import Synchronization

/// The line that `systemctl --user status hearthd` shows.
final class StatusLine: Sendable {
  private struct State {
    var sessions: [AccountName: SessionState] = [:]
    var outbox = OutboxStats()
    var lastText = ""
    var isReady = false
  }

  private let state = Mutex(State())
  private let notifier = ServiceNotifier()

  func sessionIs(_ account: AccountName, _ session: SessionState?) { change { $0.sessions[account] = session } }

  func outboxIs(_ stats: OutboxStats) { change { $0.outbox = stats } }

  /// Tells the service manager that the daemon serves calls, for the first time or again after a reload.
  func ready() {
    state.withLock { state in
      state.isReady = true
      state.lastText = Self.text(state)
      notifier.ready(status: state.lastText)
    }
  }

  private func change(_ body: (inout State) -> Void) {
    state.withLock { state in
      body(&state)
      let text = Self.text(state)
      guard state.isReady, text != state.lastText else { return }
      state.lastText = text
      notifier.status(text)
    }
  }

  private static func text(_ state: State) -> String {
    let counts = Dictionary(grouping: state.sessions.values, by: \.phrase).mapValues(\.count)
    let sessions = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    let waiting = state.outbox.pending + state.outbox.inFlight + state.outbox.waiting + state.outbox.held
    return
      "Sessions: \(sessions.isEmpty ? "none" : sessions). Outbox: \(waiting) to deliver, \(state.outbox.dead) dead."
  }
}

extension SessionState {
  fileprivate var phrase: String {
    switch self {
    case .authenticated: "signed in"
    case .locked: "locked"
    case .hydrating: "starting"
    case .unauthenticated, .reauthRequired: "to sign in"
    }
  }
}
