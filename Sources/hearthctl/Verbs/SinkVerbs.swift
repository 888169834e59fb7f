import ArgumentParser
import Glibc
import HearthClient
import HearthControl
import HearthCore

struct SinkVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sink", abstract: "Maintain files that contain a fresh token, for programs that can only read files.",
    subcommands: [SinkAddVerb.self, SinkListVerb.self, SinkRemoveVerb.self])

  /// Returns a path as the configuration should contain it: absolute, or starting with `~` or `%t`.
  static func written(_ path: String) -> String {
    path.hasPrefix("~/") || path.hasPrefix("%t/") ? path : EnvironmentPaths.absolute(path)
  }

  /// Returns the path with `~` and `%t` expanded from this process's environment, which may differ from the daemon's.
  static func place(_ path: String) -> String {
    for (sign, name) in [("~", "HOME"), ("%t", "XDG_RUNTIME_DIR")] where path.hasPrefix(sign + "/") {
      return (variable(name) ?? "") + path.dropFirst(sign.count)
    }
    return EnvironmentPaths.absolute(path)
  }

  /// Returns whether the file contains a token of the account: whether it is not empty or, for a netrc file, whether it
  /// contains the account's mark.
  static func holdsToken(_ path: String, format: String?, of account: String) -> Bool {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_size > 0 else { return false }
    guard format == SinkSettings.Format.netrc.rawValue, let account = AccountName(account) else { return true }
    let lines = (try? Input.file(path))?.split(separator: 0x0A) ?? []
    return lines.contains { $0.elementsEqual(NetrcText.mark(account).utf8) }
  }

  static func holdsToken(_ sink: DaemonProgram.Sink) -> Bool {
    holdsToken(sink.path, format: sink.format, of: sink.account)
  }
}

struct SinkListVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the configured token files, and whether each exists.",
    discussion: """
      For example:

        hearthctl sink list
        hearthctl sink list --json
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var options: AccountOptions
  @OptionGroup var list: ListOptions

  func run() throws {
    let setting = try AccountSetting(options, daemonOptions)
    let sinks = try setting.file.sinks()
    let states = try setting.sessions().mapValues(\.state)
    let trouble = try trouble(Set(sinks.map(\.account)).intersection(states.keys))
    let json: JSON = [
      "configuration": WholeFile.exists(setting.file.path) ? .string(setting.file.path) : nil,
      "sinks": .array(
        sinks.map { sink in
          var row = sink.json.object ?? [:]
          row["inPlace"] = .bool(SinkVerb.holdsToken(sink))
          row["state"] = JSON(states[sink.account]?.name)
          row["error"] = JSON(trouble[sink.path])
          return .object(row)
        }),
    ]
    list.show(json, daemonOptions.output) { room in
      guard !sinks.isEmpty else {
        return "There are no token files in \(setting.file.path). Add one with \"hearthctl sink add\"."
      }
      var table = Table(columns: [
        .init("ACCOUNT", rank: 1), .init("PATH"), .init("FORMAT", rank: 2), .init("MODE", rank: 3), .init("FILE"),
      ])
      table.rows = sinks.map { sink in
        [sink.account, sink.path, sink.format, sink.mode, Self.word(sink, states[sink.account], trouble[sink.path])]
      }
      return table.text(within: room)
    }
  }

  private static func word(_ sink: DaemonProgram.Sink, _ state: SessionState?, _ trouble: String?) -> String {
    switch (SinkVerb.holdsToken(sink), trouble, state) {
    case (true, nil, _): "contains a token"
    case (true, _?, _): "cannot be written: run \"hearthctl doctor\""
    case (false, nil, nil): "missing"
    case (false, _?, _), (false, nil, .authenticated): "missing: run \"hearthctl doctor\""
    case (false, nil, let state?): "missing: \(state.words)"
    }
  }

  /// Returns the daemon's errors for files that it cannot write, by path. Leaves out accounts for which the daemon
  /// refuses the check, for example because its version lacks the check.
  private func trouble(_ accounts: Set<String>) throws -> [String: String] {
    guard !accounts.isEmpty, var daemon = try daemonOptions.connectIfRunning() else { return [:] }
    var trouble: [String: String] = [:]
    for account in accounts.sorted().compactMap(AccountName.init) {
      do {
        for check in try daemon.call(DiagnoseSession(account, [.sink])).value.checks where check.verdict == .problem {
          if let path = check.path { trouble[path] = check.message }
        }
      } catch {
        guard case ControlClient.Failure.refused = error else { throw error }
      }
    }
    return trouble
  }
}

struct SinkRemoveVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove a token file and its configuration.",
    discussion: """
      For example:

        hearthctl sink remove work ~/.cache/work.token
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var options: AccountOptions

  @Argument(help: "Name of the account.", completion: Completions.accounts)
  var account: String

  @Argument(help: "Path of the token file.", completion: .file())
  var path: String

  func run() throws {
    let account = try AccountName(asked: account)
    let setting = try AccountSetting(options, daemonOptions)
    let place = SinkVerb.place(path)
    let (format, kept) = try setting.file.removeSink(at: place, of: account)
    let reload = try setting.reload()
    let holdsToken = SinkVerb.holdsToken(place, format: format, of: account.description)
    daemonOptions.output.show([
      "account": .string(account.description), "path": .string(place), "configuration": .string(setting.file.path),
      "kept": JSON(kept), "reloaded": .bool(reload.isDone), "inPlace": .bool(holdsToken),
    ]) {
      let file =
        if holdsToken {
          "\(place) still contains the token\(reload.isDone ? "" : "; the daemon removes it when it loads the change")."
        } else if WholeFile.exists(place) {
          "\(place) no longer contains a token of \(account)."
        } else {
          "\(place) was removed."
        }
      return "Removed the token file of \(account) from \(setting.file.path)"
        + (kept.map { "; the previous file is saved as \($0)." } ?? ".") + "\n\(reload.sentence)\n\(file)"
    }
  }
}
