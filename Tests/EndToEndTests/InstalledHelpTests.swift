import ArgumentParser
import Glibc
import HearthControl
import TestSupport
import Testing

@testable import hearthctl

/// What `make install` lays down besides the programs: made from what they say of themselves.
@Suite("Manual pages and completions", .serialized, .mayBlock) struct InstalledHelpTests {
  private static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

  @Test("each verb has a page without a mistake, and uninstalling leaves no file")
  func pages() async throws {
    let folder = TemporaryFolder()
    let place = "DESTDIR=\(folder.path)"
    try make("install-help", "install-units", place, "HELPERS=\(ChildProcess.binaries)")
    // Everybody may read what the administrator has installed, whatever the umask.
    try shell(#"test -z "$(find "$1" \( -type f ! -perm 644 -o -type d ! -perm 755 \) ! -path "$1")""#, folder.path)
    let pages = "\(folder.path)/usr/local/share/man"
    for (name, abstract) in Self.pages(Hearthctl.self) {
      let page = String(decoding: try #require(Files.read("\(pages)/man1/\(name).1")), as: UTF8.self)
      #expect(page.contains("\n.Nm \(name)\n"), "\(name)")
      #expect(page.replacing("\\-", with: "-").contains(abstract.prefix(30)), "\(name)")
    }
    for page in ["man8/hearthd.8", "man1/hearth-sandbox.1", "man5/hearth.toml.5"] {
      #expect(access("\(pages)/\(page)", R_OK) == 0)
    }
    for program in ["man1/hearthctl.1", "man8/hearthd.8"] {
      for section in ["ENVIRONMENT", "FILES", "EXIT STATUS", "EXAMPLES"] {
        #expect(Files.text("\(pages)/\(program)").contains("\n.Sh \(section)\n"), "\(program): \(section)")
      }
    }
    if access("/usr/bin/groff", X_OK) == 0 {
      try shell(
        #"said=$(groff -mdoc -Tutf8 -ww -z "$1"/man?/* 2>&1) && test -z "$said" || { echo "$said"; false; }"#, pages)
    }
    try make("uninstall", place)
    try shell(#"test -z "$(find "$1" -type f)""#, folder.path)
  }

  @Test("no line of any help is wider than 80 columns")
  func width() async throws {
    try await TestEnvironment.run { environment in
      let verbs = Self.pages(Hearthctl.self).map { $0.name.split(separator: "-").map(String.init) }
      #expect(verbs.count > 40)
      let others = ["hearthd", "hearth-sandbox", "hearth-oidc-agent"].map { [$0] }
      for words in verbs + others {
        let process = try environment.spawn(words[0], words.dropFirst() + ["--help"])
        #expect(try process.wait() == .exited(0), "\(words)")
        let wide = process.output.split(separator: "\n").filter { $0.count > 80 }
        #expect(!process.output.isEmpty && wide.isEmpty, "\(words): \(wide)")
      }
    }
  }

  @Test("bash completes verbs, options, accounts and items, and nothing where no daemon answers")
  func bash() async throws {
    try await TestEnvironment.session { environment, sandbox, daemon in
      _ = try environment.hearthctl(["outbox", "pause", "--socket", daemon.socket])
      let id = try environment.hearthctl(
        ["outbox", "add", "work", "POST", sandbox.notes, "--data", "x", "--socket", daemon.socket]).output.dropLast()
      func completions(_ line: String, socket: String = daemon.socket) throws -> [String] {
        let process = try environment.spawn(
          "hearthctl", [line], environment: ["HEARTH_SOCKET": socket],
          launcher: ["/bin/bash", "-c", Self.completion, "bash"])
        #expect(try process.wait() == .exited(0), "\(line)")
        #expect(process.errors == "", "\(line)")
        return process.output.split(separator: "\n").map(String.init)
      }
      #expect(try completions("hearthctl tok") == ["token"])
      #expect(try completions("hearthctl token --min") == ["--min-valid"])
      #expect(try completions("hearthctl token wo") == ["work"])
      #expect(try completions("hearthctl status --socket \(daemon.socket) w", socket: "/none") == ["work"])
      #expect(try completions("hearthctl outbox add work PO") == ["POST"])
      #expect(try completions("hearthctl outbox list --state de") == ["delivered", "dead"])
      #expect(try completions("hearthctl outbox cancel \(id.prefix(3))") == [String(id)])
      #expect(try completions("hearthctl outbox retry --dead w") == ["work"])
      #expect(try completions("hearthctl token wo", socket: "/none") == [])
    }
  }

  /// Completes the last word of a line as bash would. Arguments: the program, the line.
  private static let completion = """
    program=$1
    hearthctl() { "$program" "$@"; }
    source <(hearthctl --generate-completion-script bash)
    COMP_LINE=$2 COMP_POINT=${#2}
    read -ra COMP_WORDS <<< "$2"
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _hearthctl hearthctl "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    [ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\\n' "${COMPREPLY[@]}"
    """

  private static func pages(
    _ command: any ParsableCommand.Type, above: [String] = []
  ) -> [(name: String, abstract: String)] {
    let configuration = command.configuration
    let path = above + [configuration.commandName ?? ""]
    return [(path.joined(separator: "-"), configuration.abstract)]
      + configuration.subcommands.flatMap { pages($0, above: path) }
  }

  private func make(_ arguments: String...) throws {
    try Command.run(["/bin/sh", "-c", #"umask 077; exec make --silent "$@""#, "sh", "-C", Self.root] + arguments)
  }

  private func shell(_ script: String, _ argument: String) throws {
    try Command.run(["/bin/sh", "-c", script, "sh", argument])
  }
}
