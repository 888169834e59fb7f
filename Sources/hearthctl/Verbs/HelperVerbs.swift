import ArgumentParser
import HearthClient
import HearthControl
import HearthCore

struct HelperVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "helper", abstract: "Set up other programs to get their tokens from Hearth.",
    subcommands: [HelperListVerb.self, HelperInstallVerb.self, HelperCheckVerb.self, HelperRemoveVerb.self])
}

/// The tool, and the account and server for its tokens.
struct HelperChoice: ParsableArguments {
  @Argument(help: "Tool (see \"hearthctl helper list\").", completion: .list(HelperTool.all.map { $0.name }))
  var tool: String

  @Argument(
    help: "Account (default: see \"hearthctl which URL\").", completion: Completions.accounts)
  var account: String?

  @Option(
    name: .customLong("for"), help: ArgumentHelp("URL to which the tool sends the token.", valueName: "url"))
  var url: String?

  /// Returns the target. If the tool requires an account and the user did not choose one, finds the default account.
  /// Throws if the user chose an account that the tool cannot use.
  func target(_ tool: HelperTool, _ url: String, _ options: DaemonOptions) throws -> HelperTarget {
    let account = try AccountName.asked(account)
    if account != nil, !tool.takesAccount {
      throw CommandFailure(
        .usage,
        "Omit the account for \(tool.name), because Hearth selects one by the server or a [[use]] rule.")
    }
    guard tool.namesAccount, account == nil else { return try HelperTarget(account: account?.description, url: url) }
    var daemon = try options.connect()
    return try HelperTarget(account: DefaultAccount.name(nil, for: url, &daemon).description, url: url)
  }

  /// Returns the tool's entries for the chosen account and server.
  func setUps(_ tool: HelperTool) -> [String] {
    tool.setUps().filter { words in
      let words = words.split(separator: " ").map(String.init)
      return (account.map { words.dropLast().contains($0) } ?? true)
        && (url.map { HelperTool.isSame($0, words.last ?? "") } ?? true)
    }
  }
}

struct HelperListVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the supported tools, and the servers for which each one is set up.",
    discussion: """
      For example:

        hearthctl helper list
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var list: ListOptions

  func run() throws {
    let rows = HelperTool.all.map { ($0, $0.setUps()) }
    let json = rows.map { tool, setUps -> JSON in
      ["tool": .string(tool.name), "hook": .string(tool.hook), "setUp": .array(setUps.map(JSON.string))]
    }
    list.show(["helpers": .array(json)], daemonOptions.output) { room in
      var table = Table(columns: [.init("TOOL"), .init("HOOK", rank: 1), .init("SET UP")])
      table.rows = rows.map { tool, setUps in
        [tool.name, tool.hook, setUps.isEmpty ? tool.parts.isEmpty ? "by hand" : "-" : setUps.joined(separator: ", ")]
      }
      return table.text(within: room)
    }
  }
}

struct HelperInstallVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "install", abstract: "Add Hearth to a tool's configuration, or print what to add.",
    discussion: """
      Hearth adds its own settings and keeps all others, but it reformats JSON files. If a file already contains a \
      conflicting setting, the command fails. For example:

        hearthctl helper install git --for https://git.example.com
        hearthctl helper install pnpm work --for https://npm.example.com --print
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var choice: HelperChoice

  @Flag(help: "Print what Hearth would write, without writing it.")
  var print = false

  func run() throws {
    let tool = try HelperTool.named(choice.tool)
    // A tool without a helper command reads a token file, which is the same for all servers, so any URL will do.
    guard let url = choice.url ?? (tool.asks == nil ? "https://any/" : nil) else {
      throw CommandFailure(.usage, "Add --for with the URL of the server to which \(tool.name) sends the token.")
    }
    let target = try choice.target(tool, url, daemonOptions)
    let note = tool.note.map(target.filled)
    guard !print, !tool.parts.isEmpty else {
      let files = tool.parts.map { (path: $0.file.path(target), text: $0.shown(tool.name, target)) }
      daemonOptions.output.showVerbatim([
        "tool": .string(tool.name),
        "files": .array(files.map { ["path": .string($0.path), "text": .string($0.text)] }),
        "note": JSON(note),
      ]) {
        (files.map { "In \($0.path):\n\($0.text)" } + [note].compactMap(\.self)).joined(separator: "\n\n")
      }
      return
    }
    let changed = try tool.install(target)
    daemonOptions.output.showVerbatim([
      "tool": .string(tool.name), "changed": .array(changed.map(JSON.string)), "note": JSON(note),
    ]) {
      let said = changed.isEmpty ? ["\(tool.name) is already set up."] : changed.map { "Changed \($0)." }
      return (said + [note].compactMap(\.self) + ["Next: hearthctl helper check \(tool.name)"]).joined(separator: "\n")
    }
  }
}

struct HelperRemoveVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove the settings that Hearth added to a tool's configuration.",
    discussion: """
      For example:

        hearthctl helper remove git
        hearthctl helper remove git --for https://git.example.com
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var choice: HelperChoice

  func run() throws {
    let tool = try HelperTool.named(choice.tool)
    var changed: [String] = []
    for words in choice.setUps(tool) {
      for file in try tool.remove(words) where !changed.contains(file) { changed.append(file) }
    }
    daemonOptions.output.show(["tool": .string(tool.name), "changed": .array(changed.map(JSON.string))]) {
      changed.isEmpty
        ? "There are no settings to remove for \(tool.name)."
        : changed.map { "Changed \($0)." }.joined(separator: "\n")
    }
  }
}

struct HelperCheckVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Request a token as a tool would, and show the result.",
    discussion: """
      Without --for, every server that is set up for the tool is checked. The token itself is never shown. For example:

        hearthctl helper check git
        hearthctl helper check mail work --for imaps://imap.example.com
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var choice: HelperChoice

  func run() throws {
    let tool = try HelperTool.named(choice.tool)
    guard let asks = tool.asks else {
      throw CommandFailure(
        .usage, "\(tool.name) reads a token file. To see whether it exists, run \"hearthctl sink list\".")
    }
    let targets = try targets(tool)
    guard !targets.isEmpty else {
      throw CommandFailure(
        .failed,
        tool.parts.isEmpty
          ? "Hearth does not know where \(tool.name) sends the token. Add --for URL."
          : "Nothing is set up for \(tool.name)\(choice.account == nil ? "" : " with this account"). Run "
            + "\"hearthctl helper install \(tool.name) --for URL\".")
    }
    let results = try targets.map { ($0, try $0.trial(of: asks, daemonOptions)) }
    daemonOptions.output.show([
      "tool": .string(tool.name),
      "checks": .array(
        results.map { ["for": .string($0.url), "ok": .bool($1.status == .done), "message": .string($1.message)] }),
    ]) {
      results.map { "\(tool.name), for \($0.url): \($1.message)" }.joined(separator: "\n")
    }
    let worst = ExitStatus.worst(results.map(\.1.status))
    if worst != .done { throw CommandFailure(worst, nil) }
  }

  private func targets(_ tool: HelperTool) throws -> [HelperTarget] {
    if let url = choice.url { return [try choice.target(tool, url, daemonOptions)] }
    return try choice.setUps(tool).map { words in
      let words = words.split(separator: " ").map(String.init)
      return try HelperTarget(account: words.count > 1 ? words[0] : nil, url: words.last ?? "")
    }
  }
}

extension HelperTool {
  /// Returns whether two URLs are equal, ignoring schemes and final slashes. A tool's file may contain only the host.
  static func isSame(_ url: String, _ other: String) -> Bool {
    func bare(_ text: String) -> Substring {
      let place = text.firstRange(of: "://").map { text[$0.upperBound...] } ?? text[...]
      return place.hasSuffix("/") ? place.dropLast() : place
    }
    return bare(url) == bare(other)
  }
}
