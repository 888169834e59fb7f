import Glibc
import HearthControl
import TestSupport
import Testing

@testable import hearthctl

/// The configuration file is replaced whole, or not at all.
@Suite struct ConfigurationEditTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.file("config.toml") }

  private func write(_ text: String, to name: String = "config.toml", mode: mode_t = 0o600) throws {
    try Files.write(text, to: folder.file(name))
    chmod(folder.file(name), mode)
  }

  private func text(_ name: String = "config.toml") -> String { Files.text(folder.file(name)) }

  private func mode(_ name: String) -> mode_t {
    var status = stat()
    stat(folder.file(name), &status)
    return status.st_mode & 0o7777
  }

  private func refusal(_ body: () throws -> Void) -> String {
    let failure = #expect(throws: CommandFailure.self, performing: body)
    return failure?.message ?? ""
  }

  @Test("a file is replaced by what was checked, keeps its mode, and is kept itself")
  func replace() throws {
    try write("old", mode: 0o640)
    var checked = ""
    let edit = try ConfigurationEdit(path)
    #expect(edit.bytes == Array("old".utf8))
    try edit.replace(with: Array("new".utf8)) { checked = Files.text($0) }
    #expect(checked == "new" && text() == "new" && text("config.toml.bak") == "old")
    #expect(mode("config.toml") == 0o640 && mode("config.toml.bak") == 0o640)
    #expect(folder.names == ["config.toml", "config.toml.bak"])
    #expect(edit.keptPath == folder.file("config.toml.bak"))
  }

  @Test("a new file and its folders are for their owner alone")
  func create() throws {
    let edit = try ConfigurationEdit(folder.file("a/b/config.toml"))
    #expect(edit.bytes == nil && edit.keptPath == nil)
    try edit.replace(with: Array("new".utf8)) { _ in }
    #expect(text("a/b/config.toml") == "new" && mode("a/b/config.toml") == 0o600)
    #expect(mode("a") == 0o700 && mode("a/b") == 0o700)
  }

  @Test("nothing is changed where the check throws, nor by a trial")
  func refused() throws {
    try write("old")
    #expect(
      refusal { try ConfigurationEdit(path).replace(with: [0x61]) { _ in throw CommandFailure(.failed, "no") } } == "no"
    )
    try ConfigurationEdit(path).replace(with: [0x61], isTrial: true) { _ in }
    #expect(text() == "old" && folder.names == ["config.toml"])
  }

  @Test("a link stays a link, and what it leads to is replaced")
  func link() throws {
    mkdir(folder.file("dotfiles"), 0o700)
    try write("old", to: "dotfiles/hearth.toml")
    symlink("dotfiles/hearth.toml", path)
    try ConfigurationEdit(path).replace(with: Array("new".utf8)) { _ in }
    var status = stat()
    lstat(path, &status)
    #expect(status.st_mode & S_IFMT == S_IFLNK)
    #expect(text("dotfiles/hearth.toml") == "new" && text("dotfiles/hearth.toml.bak") == "old")
  }

  @Test("a link that leads nowhere is no new file")
  func brokenLink() throws {
    symlink("nowhere", path)
    #expect(refusal { _ = try ConfigurationEdit(path) }.contains("is a link that cannot be followed"))
  }

  @Test("a file that others may write, and one that is no file, are refused")
  func distrust() throws {
    try write("old", mode: 0o620)
    #expect(refusal { _ = try ConfigurationEdit(path) }.contains("chmod go-w"))
    mkdir(folder.file("directory"), 0o700)
    #expect(refusal { _ = try ConfigurationEdit(folder.file("directory")) }.contains("not a regular file"))
  }

  @Test("a file of another user is refused, and what to do is said", .enabled(if: getuid() == 0))
  func foreign() throws {
    try write("old")
    chown(path, 65_534, 65_534)
    #expect(refusal { _ = try ConfigurationEdit(path) }.contains("belongs to user 65534"))
  }

  @Test("what another program changes meanwhile is noticed and stays", arguments: [true, false])
  func concurrent(isThere: Bool) throws {
    if isThere { try write("old") }
    let edit = try ConfigurationEdit(path)
    let sentence = refusal {
      try edit.replace(with: Array("new".utf8)) { _ in try write("theirs") }
    }
    #expect(sentence.contains("Another program changed"))
    #expect(text() == "theirs" && folder.names == ["config.toml"])
  }

  @Test("the file that counts is the option's, the daemon's, or the first that exists")
  func place() throws {
    let environment = ["HEARTH_CONFIG": folder.file("named"), "XDG_CONFIG_HOME": folder.path, "HOME": "/nowhere"]
    func path(_ option: String? = nil, daemon: String? = nil) throws -> String {
      try AccountFile.path(
        option: option, daemon: daemon, else: EnvironmentPaths(workingDirectory: "/cwd") { environment[$0] })
    }
    #expect(try path("/o", daemon: "/d") == "/o")
    #expect(try path(daemon: "/d") == "/d")
    #expect(try path() == folder.file("named"), "none exists: the one that is named is created")
    mkdir(folder.file("hearth"), 0o700)
    try write("", to: "hearth/config.toml")
    #expect(try path() == folder.file("hearth/config.toml"))
    try write("", to: "named")
    #expect(try path() == folder.file("named"))
    #expect(
      try AccountFile.path(
        option: nil, daemon: nil,
        else: EnvironmentPaths(workingDirectory: "/cwd") { $0 == "HOME" ? folder.path : nil })
        == folder.file(".config/hearth/config.toml"))
  }
}
