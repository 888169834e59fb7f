import ArgumentParser
import HearthControl
import HearthCore

/// Edits the `[[accounts.NAME.sinks]]` tables of a configuration file.
extension AccountFile {
  /// Returns the sinks, or an empty array if there is no configuration file.
  func sinks() throws -> [DaemonProgram.Sink] {
    try ConfigurationPlace.exists(path) ? usable(program.sinks) : []
  }

  /// Adds a sink's table after the account's other tables. Returns the sink as parsed by hearthd and the path of the
  /// backup.
  func addSink(_ table: TOMLTable, of account: AccountName) throws -> (sink: DaemonProgram.Sink, kept: String?) {
    let edit = try ConfigurationEdit(path)
    let before = try edit.bytes == nil ? [] : usable(program.sinks)
    guard try edit.bytes != nil && usable(program.accounts).contains(where: { $0.name == account.description }) else {
      throw CommandFailure(.failed, "There is no account \(account) in \(path). Add it with \"hearthctl account add\".")
    }
    var document = TOMLDocument(edit.bytes ?? [])
    document.add(try table.text(), to: "accounts", account.description)
    var added: DaemonProgram.Sink?
    try edit.replace(with: document.bytes) { draft in
      let after = try read(draft: draft, program.sinks)
      let own = after.filter { $0.account == account.description }
      added = own.last
      guard Array(own.dropLast()) == before.filter({ $0.account == account.description }),
        after.count == before.count + 1
      else { throw notSeparable(account) }
    }
    guard let added else { throw notSeparable(account) }
    return (added, edit.keptPath)
  }

  /// Removes the table of the account's sink at `place`. Returns the sink's format and the path of the backup.
  func removeSink(at place: String, of account: AccountName) throws -> (format: String, kept: String?) {
    let edit = try ConfigurationEdit(path)
    let before = try edit.bytes == nil ? [] : usable(program.sinks)
    let own = before.filter { $0.account == account.description }
    guard let index = own.firstIndex(where: { $0.path == place }) else {
      let known = own.isEmpty ? "" : " Its token files are \(own.map(\.path).joined(separator: ", "))."
      throw CommandFailure(.failed, "\(account) has no token file \(place) in \(path).\(known)")
    }
    var document = TOMLDocument(edit.bytes ?? [])
    guard document.remove(["accounts", account.description, "sinks"], element: index) else {
      throw notSeparable(account)
    }
    try edit.replace(with: document.bytes) { draft in
      let after: [DaemonProgram.Sink]
      do { after = try read(draft: draft, program.sinks) } catch is ValidationError { throw notSeparable(account) }
      guard after == before.filter({ $0 != own[index] }) else { throw notSeparable(account) }
    }
    return (own[index].format, edit.keptPath)
  }
}
