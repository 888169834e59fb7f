import Dispatch
import HearthCore
import HearthLinux
import Synchronization

/// The status line in `systemctl --user status hearthd`.
///
/// Changes are collected for a tenth of a second, so that many changes need only one message.
final class StatusLine: Sendable {
  private struct State {
    var sessions: [AccountName: SessionState] = [:]
    var outbox = OutboxStats()
    var lastText = ""
    var isReady = false
    var isScheduled = false
  }

  private let state = Mutex(State())
  private let notifier = ServiceNotifier()
  private let queue = DispatchQueue(label: "hearth.status")

  func sessionIs(_ account: AccountName, _ session: SessionState?) { change { $0.sessions[account] = session } }

  func outboxIs(_ stats: OutboxStats) { change { $0.outbox = stats } }

  /// Tells the service manager that the daemon is ready, after starting or reloading.
  func ready() {
    let text = state.withLock { state in
      state.isReady = true
      state.lastText = Self.text(state)
      return state.lastText
    }
    notifier.ready(status: text)
  }

  /// Tells the service manager that the daemon is stopping and needs at most `time`. No status is sent afterwards.
  func stopping(within time: Duration) {
    state.withLock { $0.isReady = false }
    notifier.stopping(within: time)
  }

  private func change(_ body: (inout State) -> Void) {
    let isFirst = state.withLock { state in
      body(&state)
      guard state.isReady, !state.isScheduled else { return false }
      state.isScheduled = true
      return true
    }
    if isFirst { queue.asyncAfter(deadline: .now() + .milliseconds(100)) { self.send() } }
  }

  private func send() {
    let text: String? = state.withLock { state in
      state.isScheduled = false
      let text = Self.text(state)
      guard state.isReady, text != state.lastText else { return nil }
      state.lastText = text
      return text
    }
    if let text { notifier.status(text) }
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
    case .unauthenticated, .reauthRequired: "waiting for sign-in"
    }
  }
}
