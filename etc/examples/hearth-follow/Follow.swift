import HearthClient

/// Asks for a token as a sync program would, then prints events. The argument is the name of an account.
@main
enum Follow {
  static func main() async throws {
    let account = CommandLine.arguments.dropFirst().first ?? "work"
    let hearth = try await HearthClient.connect()
    do {
      let token = try await hearth.token(for: account, validFor: .seconds(60))
      print("\(account): \(token), until \(token.expiresAt?.description ?? "an unknown time")")
    } catch let failure as HearthClient.Failure {
      print("\(account): \(failure)", failure.isRetryable ? "Retrying when something changes." : "")
    }
    for await event in hearth.events(of: account) {
      switch event {
      case .snapshot(let sessions, let outbox):
        for session in sessions { print("\(session.account): \(session.state.rawValue). \(session.message)") }
        print("\(outbox.pending) to send, \(outbox.dead) dead")
      case .sessionChanged(let session): print("\(session.account): \(session.state.rawValue). \(session.message)")
      case .itemChanged(let item): print("\(item.method) \(item.url): \(item.state.rawValue)")
      case .tokenRefreshed(let account, _, _, _): print("\(account): new token")
      case .unavailable(let failure): print("\(failure) Retrying.")
      case .tokenExpiring, .signedOut, .outboxPaused, .outboxResumed, .configurationReloaded, .other: continue
      }
    }
  }
}
