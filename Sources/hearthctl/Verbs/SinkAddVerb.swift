import ArgumentParser
import HearthClient
import HearthControl
import HearthCore

struct SinkAddVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Maintain a file that contains a fresh token of an account.",
    discussion: """
      Hearth replaces the file atomically whenever there is a new token, and removes it when the account is locked or \
      needs a sign-in, when its token has expired, and when the daemon stops. With --in-place, Hearth overwrites and \
      empties the file instead. In a netrc file, it changes only its own entries. Anyone who can read the file can use \
      the token, so choose a folder that only you can read, preferably in memory. For example:

        hearthctl sink add work ~/.cache/work.token
        hearthctl sink add work '%t/work.header' --format header
        hearthctl sink add work /srv/app/token.json --format json \\
          --mode 0640 --group app
        hearthctl sink add work ~/.netrc --format netrc
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var options: AccountOptions

  @Argument(help: "Name of the account.", completion: Completions.accounts)
  var account: String

  @Argument(
    help: "Path of the new file, in an existing folder; %t stands for $XDG_RUNTIME_DIR.",
    completion: .file())
  var path: String

  @Option(
    help: "Content of the file: token (default), header (a line for curl -H @FILE), json, or netrc.",
    completion: .list(SinkSettings.Format.allCases.map(\.rawValue)))
  var format: String?

  @Option(
    help: "Kind of token: access_token or id_token (default: the account's bearer setting).",
    completion: .list(BearerKind.allCases.map(\.rawValue)))
  var bearer: String?

  @Option(help: ArgumentHelp("File mode (default 0600).", valueName: "octal"))
  var mode: String?

  @Option(help: ArgumentHelp("Owner of the file; only root can set it.", valueName: "user"))
  var owner: String?

  @Option(help: ArgumentHelp("Group of the file. You must be a member of it.", valueName: "group"))
  var group: String?

  @Option(
    name: .customLong("host"),
    help: ArgumentHelp("Host in a netrc file (default: the hosts of api_origins); may be repeated.", valueName: "host"))
  var hosts: [String] = []

  @Option(
    help: ArgumentHelp("Login in a netrc file (default: the account's username, otherwise oauth2).", valueName: "name"))
  var login: String?

  @Flag(help: "Write to the file in place, for a bind mount of this file. An existing file must be empty.")
  var inPlace = false

  func run() throws {
    let account = try AccountName(asked: account)
    let setting = try AccountSetting(options, daemonOptions)
    try check(SinkVerb.place(path), setting.file)
    var table = TOMLTable(path: ["accounts", account.description, "sinks"], isElement: true)
    table.set("path", SinkVerb.written(path))
    table.set("format", format)
    table.set("bearer", bearer)
    table.set("mode", mode)
    table.set("owner", owner)
    table.set("group", group)
    table.set("hosts", hosts)
    table.set("login", login)
    if inPlace { table.set("in_place", true) }
    let (sink, kept) = try setting.file.addSink(table, of: account)
    let reload = try setting.reload()
    let isThere = SinkVerb.holdsToken(sink)
    let missing = try reload.isDone && !isThere ? reason(account) : nil
    daemonOptions.output.show([
      "account": .string(account.description), "path": .string(sink.path),
      "configuration": .string(setting.file.path), "kept": JSON(kept), "reloaded": .bool(reload.isDone),
      "inPlace": .bool(isThere),
    ]) {
      let lines: [String?] = [
        "Added the token file \(sink.path) of \(account) to \(setting.file.path)"
          + (kept.map { "; the previous file is saved as \($0)." } ?? "."),
        reload.sentence, isThere ? "The file contains a token." : missing,
      ]
      return lines.compactMap(\.self).joined(separator: "\n")
    }
  }

  /// Checks in advance for problems that would otherwise appear only in the daemon's log.
  private func check(_ place: String, _ file: AccountFile) throws {
    let isNetrc = format == SinkSettings.Format.netrc.rawValue
    let mayBeThere = isNetrc || inPlace && !SinkVerb.holdsToken(place, format: format, of: account)
    guard mayBeThere || !WholeFile.exists(place) else {
      if let sink = try file.sinks().first(where: { $0.path == place }) {
        throw CommandFailure(.failed, "\(place) is already a token file of \(sink.account). Nothing was written.")
      }
      throw CommandFailure(
        .failed, "The file \(place) already exists. Remove it first, or choose another path. Nothing was written.")
    }
    let folder = place.lastIndex(of: "/").map { $0 == place.startIndex ? "/" : String(place[..<$0]) } ?? "."
    guard WholeFile.exists(folder) else {
      throw CommandFailure(
        .failed,
        "The folder \(folder) does not exist. Create it with \"mkdir -p -m 700 \(folder)\". Nothing was written.")
    }
  }

  /// Returns the reason why the file contains no token yet, or `nil` if no daemon is running.
  private func reason(_ account: AccountName) throws -> String? {
    guard var daemon = try daemonOptions.connectIfRunning() else { return nil }
    let session = try daemon.call(GetSession(account)).value
    guard session.state == .authenticated else {
      return "Hearth will write the file as soon as there is a token. \(session.message)"
    }
    return "The file contains no token yet. To find out why, run \"hearthctl doctor\"."
  }
}
