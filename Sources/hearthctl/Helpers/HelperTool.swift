import Glibc
import HearthClient
import HearthControl
import HearthCore

/// A tool that gets its tokens from Hearth. Describes the tool's configuration and how the tool requests a token.
struct HelperTool {
  /// A part of the tool's configuration. It may contain placeholders (see `HelperTarget.filled`).
  enum Part {
    /// Lines in a file. Hearth adds the lines only if no other line starts with `rival`.
    case lines(in: HelperFile, rival: String, [String])
    /// A member of a JSON object. Hearth does not replace a value that it did not write.
    case member(in: HelperFile, [String], String)
    /// A separate program, for tools that do not pass arguments to a helper.
    case program(HelperFile, [String])
  }

  let name: String
  /// The tool's name for its credential interface.
  let hook: String
  let parts: [Part]
  /// The remaining steps for the user.
  let note: String?
  /// A shell command that gets the token as the tool does, and the command's input. `nil` if there is no such command.
  let asks: (command: String, input: String)?

  init(
    _ name: String, hook: String, _ parts: [Part] = [], note: String? = nil, asks command: String? = nil,
    input: String = ""
  ) {
    (self.name, self.hook, self.parts, self.note) = (name, hook, parts, note)
    asks = command.map { ($0, input) }
  }

  static func named(_ name: String) throws -> HelperTool {
    if let tool = all.first(where: { $0.name == name }) { return tool }
    let names = all.map(\.name)
    throw CommandFailure(
      .usage, "Hearth has no helper for \"\(name)\".\(names.suggestion(for: name)) It has helpers for \(names.listed).")
  }

  private var texts: [String] {
    let texts = parts.flatMap { part in
      switch part {
      case .lines(_, _, let lines): lines
      case .member(_, let path, let value): path + [value]
      case .program(_, let lines): lines
      }
    }
    return texts + [note, asks?.command].compactMap(\.self)
  }

  /// Whether the tool requires an account. `takesAccount` is also true if an account is optional.
  var namesAccount: Bool { texts.contains { $0.contains("{account}") } }
  var takesAccount: Bool { namesAccount || texts.contains { $0.contains("{option}") } }
}

/// A file in the home directory, or at a path from one of the tool's environment variables.
struct HelperFile {
  private let variable: String?
  private let standard: String
  private let name: String?

  /// Describes a file. `variable` is the tool's environment variable for the file's path or, if there is a `name`, for
  /// the path of the file's folder. `standard` is the default path, relative to the home directory. `XDG_CONFIG_HOME`
  /// replaces `.config` in it.
  init(_ variable: String?, _ standard: String, _ name: String? = nil) {
    (self.variable, self.standard, self.name) = (variable, standard, name)
  }

  func path(_ target: HelperTarget? = nil) -> String {
    let place = variable.flatMap { hearthctl.variable($0) } ?? usual
    let path = name.map { "\(place)/\($0)" } ?? place
    return target?.filled(path) ?? path
  }

  private var usual: String {
    let configFolder = ".config/"
    if standard.hasPrefix(configFolder), let folder = hearthctl.variable("XDG_CONFIG_HOME") {
      return "\(folder)/\(standard.dropFirst(configFolder.count))"
    }
    return "\(hearthctl.variable("HOME") ?? "")/\(standard)"
  }
}

/// The account and the server for which a tool needs a token.
struct HelperTarget {
  let account: String?
  let url: String
  /// The URLs that the tool may ask for. If the user gave a URL without a scheme, the scheme may be `https` or `http`.
  let urls: [String]
  private let place: String

  /// Throws if the URL contains a character that could have a special meaning in a shell or in a tool's configuration.
  init(account: String?, url: String) throws {
    let given = url
    let url = given.withScheme
    let isPlain = url.utf8.allSatisfy { Self.plain.contains($0) }
    guard isPlain, let scheme = url.firstRange(of: "://"), scheme.upperBound < url.endIndex else {
      throw CommandFailure(
        .usage, "--for requires a URL without a query, such as https://git.example.com, not \"\(url)\".")
    }
    place = String(url[scheme.upperBound...])
    (self.account, self.url) = (account, url)
    urls = given == url ? [url] : [url, "http://\(place)"]
  }

  private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/%+=[]".utf8)

  private var host: String { String(place.prefix { $0 != "/" }) }

  /// Replaces `{account}`, `{option}` (the account as an option of `hearthctl credential`), `{url}`, `{origin}`,
  /// `{place}` (the URL without scheme, ending with a slash), `{host}` (with port), `{name}` (the host without port)
  /// and `{home}`.
  func filled(_ text: String) -> String {
    [
      ("account", account ?? ""), ("option", account.map { " --account \($0)" } ?? ""), ("url", url),
      ("origin", url.prefix { $0 != ":" } + "://" + host), ("place", place.hasSuffix("/") ? place : place + "/"),
      ("host", host),
      ("name", String(host.prefix { $0 != ":" })), ("home", variable("HOME") ?? ""),
    ].reduce(text) { $0.replacing("{\($1.0)}", with: $1.1) }
  }

  /// The words that identify the entry in a tool's file.
  var words: String { [account, url].compactMap(\.self).joined(separator: " ") }

  /// Returns whether an entry has the same server and, if the user chose an account, the same account.
  func isMeant(by words: String) -> Bool {
    let parts = words.split(separator: " ").map(String.init)
    return HelperTool.isSame(url, parts.last ?? "") && (account == nil || account == parts.dropLast().first)
  }

  /// Runs a tool's command and checks that it prints Hearth's token for the server.
  func trial(
    of asks: (command: String, input: String), _ daemonOptions: DaemonOptions
  ) throws -> (status: ExitStatus, message: String) {
    if let socket = daemonOptions.socket { setenv("HEARTH_SOCKET", EnvironmentPaths.absolute(socket), 1) }
    let command = filled(asks.command)
    // Print the command's exit status as the last line, because `output` does not return an exit status.
    let output = try Subprogram(path: "/bin/sh").output(
      ["-c", "printf '%s\\n' \"$0\" | (\(command)) 2>&1; echo \"$?\"", filled(asks.input)], within: .seconds(30))
    var lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    let code = lines.popLast().flatMap { Int32($0) } ?? ExitStatus.failed.rawValue
    do {
      guard let given = try CredentialSource(account: account, daemonOptions).token(for: urls) else {
        return (
          .failed,
          "No account has this server in its api_origins. Run \"hearthctl account set NAME --add api_origins "
            + "\(filled("{origin}"))\"."
        )
      }
      let bearer = given
      if code == 0, lines.joined(separator: "\n").contains(bearer.token.secret.reveal()) {
        let span = bearer.expiresAt.map { ", valid for \($0.since(.now).span)" } ?? ""
        return (.done, "Received the token \(bearer.token.fingerprint) of \(given.account)\(span).")
      }
    } catch ControlClient.Failure.refused(let error) {
      return (ExitStatus(error), error.message)
    }
    // Do not show the output of a successful command, which may contain another token.
    return (
      .failed,
      code == 0
        ? "The tool did not get Hearth's token. Another helper or setting probably takes precedence."
        : "\"\(command)\" exited with status \(code): \(lines.last?.shown() ?? "no output")"
    )
  }
}
