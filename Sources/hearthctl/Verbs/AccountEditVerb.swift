import ArgumentParser
import Glibc
import HearthControl
import HearthCore

struct AccountEditVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit", abstract: "Edit the configuration in an editor, and check it before it is used.",
    discussion: """
      The editor is $VISUAL, $EDITOR, or the first of editor, nano and vi that is installed. It opens a copy, which \
      replaces the file only if the copy is valid. The previous file is saved as config.toml.bak. For example:

        hearthctl account edit
        EDITOR='code --wait' hearthctl account edit
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var options: AccountOptions

  func run() throws {
    let setting = try AccountSetting(options, daemonOptions)
    let file = setting.file
    let before = try ConfigurationEdit(file.path).bytes ?? []
    let draft = try draft(of: file.path, holding: before)
    while true {
      let failure = failureOfEditor(on: draft)
      let after = try Input.file(draft)
      let rest = after == before ? "" : " Your draft is in \(draft)."
      if after == before { unlink(draft) }
      if let failure {
        throw CommandFailure(failure.status, "\(failure.message ?? "") Nothing was changed.\(rest)")
      }
      guard after != before else {
        return daemonOptions.output.show(["configuration": .string(file.path), "changed": false]) {
          "Nothing was changed in \(file.path)."
        }
      }
      do {
        let kept = try file.replace(before, with: after)
        unlink(draft)
        return try setting.report("Changed \(file.path)", ["changed": true], kept)
      } catch let failure as ValidationError {
        guard Input.isTerminal else { throw CommandFailure(.failed, failure.message + rest) }
        Output.error(failure.message)
        guard try AccountAddVerb.agrees("Edit the file again? [Y/n] ", or: true) else {
          throw CommandFailure(.failed, "The configuration was not changed.\(rest)")
        }
      } catch let failure as CommandFailure {
        throw CommandFailure(failure.status, (failure.message ?? "") + rest)
      }
    }
  }

  /// Creates a private copy of the configuration beside the original. Its name ends with `.toml` for the editor.
  private func draft(of configuration: String, holding bytes: [UInt8]) throws -> String {
    var template = Array((configuration + ".XXXXXX.toml").utf8CString)
    let descriptor = mkstemps(&template, Int32(".toml".utf8.count))
    guard descriptor >= 0 else {
      throw CommandFailure(.failed, "Cannot create a file beside \(configuration): \(reason()).")
    }
    defer { close(descriptor) }
    let path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    guard WholeFile.write(bytes, to: descriptor) else {
      throw CommandFailure(.failed, "\(path) cannot be written: \(reason()).")
    }
    return path
  }

  /// The command that starts the editor. It may contain options, so a shell runs it, as in other programs.
  private var editor: String? {
    if let named = variable("VISUAL") ?? variable("EDITOR") { return named }
    return ["editor", "nano", "vi"].first { Subprogram.find($0, in: Subprogram.searchPath) != nil }
  }

  /// Runs the editor. Returns `nil` on success and otherwise the failure.
  private func failureOfEditor(on path: String) -> CommandFailure? {
    guard let editor else {
      return CommandFailure(.failed, "No editor was found. Install one, or set $EDITOR.")
    }
    let call: [String] = ["/bin/sh", "-c", "\(editor) \"$1\"", "sh", path]
    var words = call.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var process = pid_t()
    let code = posix_spawn(&process, "/bin/sh", nil, nil, &words, environ)
    guard code == 0 else {
      return CommandFailure(.failed, "The editor cannot be run: \(String(cString: strerror(code))).")
    }
    // Leave the handling of Ctrl-C to the editor, as git does.
    let former = Glibc.signal(SIGINT, SIG_IGN)
    defer { Glibc.signal(SIGINT, former) }
    let status = waitForEnd(of: process)
    let signal = status & 0x7F
    if status == 0 { return nil }
    let end = signal == 0 ? "exited with status \(status >> 8 & 0xFF)" : "was killed by signal \(signal)"
    return CommandFailure(signal == SIGINT ? .interrupted : .failed, "The editor (\(editor)) \(end).")
  }
}
