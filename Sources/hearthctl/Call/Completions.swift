import ArgumentParser
import HearthClient
import HearthControl
import HearthCore

/// Shell completions from the daemon's data. If the daemon does not answer quickly, there are no completions.
enum Completions {
  static var accounts: CompletionKind {
    .custom { words, _, _ in accountNames(words) }
  }

  /// Returns the names of the accounts. `words` is the command line.
  static func accountNames(_ words: [String]) -> [String] {
    ask(words) { try $0.call(ListSessions()).value.sessions.map { "\($0.account)" } }
  }

  /// Completes the ids of items in these states, up to 50 per state.
  static func items(_ states: [OutboxItem.State]) -> CompletionKind {
    .custom { words, _, _ in
      ask(words) { client in
        try states.flatMap { try client.call(ListItems(OutboxQuery(state: $0, limit: 50))).value.items.map(\.id) }
      }
    }
  }

  /// Asks the daemon. `words` is the command line, which may contain `--socket`.
  private static func ask(_ words: [String], _ question: (inout ControlClient) throws -> [String]) -> [String] {
    let socket = words.firstIndex(of: "--socket").flatMap { words[($0 + 1)...].first }
    do {
      var client = try DaemonOptions.plain(socket: socket, timeout: 1).connect()
      return try question(&client)
    } catch {
      return []
    }
  }
}
