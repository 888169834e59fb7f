import ArgumentParser
import HearthClient
import HearthControl
import HearthCore

/// Completions for a shell, from the daemon's data; none if no daemon answers at once.
enum Completions {
  static var accounts: CompletionKind {
    .custom { words, _, _ in accountNames(words) }
  }

  /// The accounts that the daemon knows. `words` is the command line.
  static func accountNames(_ words: [String]) -> [String] {
    ask(words) { try $0.call(ListSessions()).value.sessions.map { "\($0.account)" } }
  }

  /// The items in these states, a limited number of each.
  static func items(_ states: [OutboxItem.State]) -> CompletionKind {
    .custom { words, _, _ in
      ask(words) { client in
        try states.flatMap { try client.call(ListItems(OutboxQuery(state: $0, limit: 50))).value.items.map(\.id) }
      }
    }
  }

  /// `words` is the command line as the shell has split it. It may name a socket.
  private static func ask(_ words: [String], _ question: (inout ControlClient) throws -> [String]) -> [String] {
    var daemon = DaemonChoice(timeout: 1)
    if let option = words.firstIndex(of: "--socket"), option + 1 < words.count { daemon.socket = words[option + 1] }
    do {
      var client = try daemon.connect()
      return try question(&client)
    } catch {
      return []
    }
  }
}
