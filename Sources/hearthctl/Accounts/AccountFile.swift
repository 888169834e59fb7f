import ArgumentParser
import HearthControl
import HearthCore

/// Edits the accounts in a configuration file. hearthd checks each change before the file is replaced.
struct AccountFile {
  let path: String
  let program: DaemonProgram

  /// Returns the first of these paths that is available: `option`, the path that the running daemon uses, the first
  /// existing path that a daemon would read, or the path at which to create the file.
  static func path(option: String?, daemon: String?, else paths: EnvironmentPaths) throws -> String {
    if let path = option ?? daemon { return EnvironmentPaths.absolute(path) }
    // A broken link counts too, because it must be fixed before another file is used.
    let existing = paths.configurationFiles.first { WholeFile.exists($0) }
    guard let path = existing ?? paths.ownConfigurationFiles.first else {
      throw CommandFailure(
        .failed,
        "The path of the configuration is unknown. Set $HOME, or pass a file with --config.")
    }
    return path
  }

  /// Returns the accounts, or an empty array if there is no file.
  func accounts() throws -> [DaemonProgram.Account] {
    try WholeFile.exists(path) ? usableAccounts() : []
  }

  /// Calls `ask` with the path of a draft that contains a new account. The configuration is not changed.
  func trying<Report>(
    _ account: AccountName, in table: TOMLTable, _ ask: (_ draft: String) throws -> Report
  ) throws -> Report {
    var report: Report?
    _ = try add(table, of: account, isTrial: true) { report = try ask($0) }
    return report!
  }

  /// Adds a table. Before the change takes effect, hearthd checks a draft of the new file, and `accept` is called with
  /// the draft's path. If `isTrial` is set, the file is not changed. Returns the path of the backup, or `nil` if there
  /// was no file.
  @discardableResult
  func add(
    _ table: TOMLTable, of account: AccountName, isTrial: Bool = false, accept: (_ draft: String) throws -> Void
  ) throws -> String? {
    let edit = try ConfigurationEdit(path)
    let before = try edit.bytes == nil ? [] : usableAccounts()
    guard !before.contains(where: { $0.name == account.description }) else {
      throw CommandFailure(
        .usage,
        "\(path) already contains the account \(account). Choose another name, change the account with \"hearthctl "
          + "account set \(account) KEY VALUE\", or remove it first with \"hearthctl account remove \(account)\".")
    }
    var document = TOMLDocument(edit.bytes ?? [])
    document.add(try table.text(), to: "accounts")
    try edit.replace(with: document.bytes, isTrial: isTrial) { draft in
      let after = try accounts(ofDraft: draft)
      guard after.filter({ $0.name != account.description }) == before, after.count == before.count + 1 else {
        throw notSeparable(account)
      }
      try accept(draft)
    }
    return edit.keptPath
  }

  /// Removes an account's tables and the rules that select the account. If `isTrial` is set, the file is not changed.
  /// Returns the path of the backup.
  @discardableResult
  func remove(_ account: AccountName, isTrial: Bool) throws -> String? {
    let edit = try ConfigurationEdit(path)
    let before = try edit.bytes == nil ? [] : usableAccounts()
    guard before.contains(where: { $0.name == account.description }) else {
      throw CommandFailure(.failed, "There is no account \(account) in \(path).")
    }
    var document = TOMLDocument(edit.bytes ?? [])
    guard document.remove(["accounts", account.description]) else { throw notSeparable(account) }
    document.removeRules(of: account.description)
    try edit.replace(with: document.bytes, isTrial: isTrial) { draft in
      let after: [DaemonProgram.Account]
      do { after = try accounts(ofDraft: draft) } catch is ValidationError { throw notSeparable(account) }
      guard after == before.filter({ $0.name != account.description }) else { throw notSeparable(account) }
    }
    return edit.keptPath
  }

  /// Returns the numbers of the lines that select the account by default. Returns an empty array if there is no file.
  func ruleLines(of account: AccountName) throws -> [Int] {
    TOMLDocument(try ConfigurationEdit(path).bytes ?? []).ruleLines(of: account.description)
  }

  /// Changes keys of an account's table. `change` receives the text of the current value, or `nil` if the key is
  /// missing. It returns the new text, or `nil` to remove the key. Returns the path of the backup.
  func change(
    _ keys: [String], of account: AccountName, _ change: (_ key: String, _ old: String?) throws -> String?
  ) throws -> String? {
    let edit = try ConfigurationEdit(path)
    let before = try edit.bytes == nil ? [] : usableAccounts()
    guard before.contains(where: { $0.name == account.description }) else {
      throw CommandFailure(.failed, "There is no account \(account) in \(path).")
    }
    var document = TOMLDocument(edit.bytes ?? [])
    for key in keys {
      guard try document.change(key, in: ["accounts", account.description], { try change(key, $0) }) else {
        throw notSeparable(account)
      }
    }
    try edit.replace(with: document.bytes) { draft in
      let after = try accounts(ofDraft: draft)
      guard after.map(\.name) == before.map(\.name) else { throw notSeparable(account) }
    }
    return edit.keptPath
  }

  /// Replaces the file if its content is still `before` (empty for a missing file). Returns the path of the backup.
  func replace(_ before: [UInt8], with after: [UInt8]) throws -> String? {
    let edit = try ConfigurationEdit(path)
    guard edit.bytes ?? [] == before else {
      throw CommandFailure(.failed, "Another program changed \(path) in the meantime, so nothing was written.")
    }
    try edit.replace(with: after) { draft in _ = try accounts(ofDraft: draft, isWhole: true) }
    return edit.keptPath
  }

  private func usableAccounts() throws -> [DaemonProgram.Account] { try usable(program.accounts) }

  private func accounts(ofDraft draft: String, isWhole: Bool = false) throws -> [DaemonProgram.Account] {
    try read(draft: draft, isWhole: isWhole, program.accounts)
  }

  /// Calls `read` with the path of the current file. If the file is invalid, throws an error for the user.
  func usable<Report>(_ read: (String) throws -> Report) throws -> Report {
    do {
      return try read(path)
    } catch let refusal as DaemonProgram.Refusal {
      throw CommandFailure(.failed, "Fix the error in the configuration first: \(refusal.sentence)")
    }
  }

  /// Reads a draft. If the user wrote the draft (`isWhole`), an error includes the line number. Otherwise, it does not,
  /// because the user does not know the lines of a generated table.
  func read<Report>(draft: String, isWhole: Bool = false, _ read: (String) throws -> Report) throws -> Report {
    do {
      return try read(draft)
    } catch let refusal as DaemonProgram.Refusal {
      var sentence = refusal.sentence[...]
      if sentence.hasPrefix(draft) {
        if isWhole {
          sentence = "\(path)\(sentence.dropFirst(draft.count))"
        } else if let place = sentence.firstRange(of: ": ") {
          sentence = sentence[place.upperBound...]
        }
      }
      throw ValidationError("\(sentence)\(sentence.hasSuffix("?") ? "" : ".") Nothing was written.")
    }
  }

  func notSeparable(_ account: AccountName) -> CommandFailure {
    CommandFailure(
      .failed,
      "Nothing was written, because the accounts in \(path) are not separate tables like [accounts.\(account)]. Edit "
        + "the file with \"hearthctl account edit\".")
  }
}

/// Edits the `[[accounts.NAME.sinks]]` tables of a configuration file.
extension AccountFile {
  /// Returns the sinks, or an empty array if there is no configuration file.
  func sinks() throws -> [DaemonProgram.Sink] {
    try WholeFile.exists(path) ? usable(program.sinks) : []
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
