import Glibc
import HearthCore
import HearthLinux
import TestSupport
import Testing

/// On real files.
@Suite struct LinuxSinkFilesTests {
  private let folder = TemporaryFolder()
  private let files = LinuxSinkFiles()
  private var path: String { folder.file("token") }

  private func sink(
    _ mode: UInt32 = 0o600, at path: String? = nil, owner: String? = nil, group: String? = nil, isInPlace: Bool = false
  ) -> SinkSettings {
    SinkSettings(
      account: .sample, path: path ?? self.path, mode: mode, owner: owner, group: group, isInPlace: isInPlace)
  }

  private func put(_ text: String, _ sink: SinkSettings? = nil) async throws(SinkFailure) {
    _ = try await put(text, sink, by: files)
  }

  @discardableResult
  private func put(
    _ text: String, _ sink: SinkSettings? = nil, by files: LinuxSinkFiles
  ) async throws(SinkFailure) -> SinkMark {
    let mark = try await files.begin(at: sink ?? self.sink())
    try await files.put(Array(text.utf8), at: sink ?? self.sink())
    return mark
  }

  private func status(_ path: String) -> stat {
    var status = stat()
    lstat(path, &status)
    return status
  }

  @Test("a file has the mode that is configured, whatever the umask")
  func mode() async {
    // All threads of a process have one umask: other tests, which create files meanwhile, are in another process.
    await #expect(processExitsWith: .success) {
      for mask: mode_t in [0o000, 0o022, 0o077, 0o777] {
        for mode: UInt32 in [0o600, 0o640, 0o444] {
          let tests = LinuxSinkFilesTests()
          let before = umask(mask)
          try await tests.put("one", tests.sink(mode))
          umask(before)
          #expect(tests.status(tests.path).st_mode & 0o7777 == mode && Files.text(tests.path) == "one")
          #expect(tests.folder.names == ["token"])
        }
      }
    }
  }

  @Test("a replaced file is another one, and who has the old one open reads it whole")
  func replace() async throws {
    try await put("the old one")
    let (old, reader) = (status(path), open(path, O_RDONLY))
    defer { close(reader) }
    try await put("new")
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = read(reader, &buffer, buffer.count)
    #expect(String(decoding: buffer[..<max(count, 0)], as: UTF8.self) == "the old one")
    #expect(status(path).st_ino != old.st_ino && Files.text(path) == "new")
  }

  @Test("a file that is written in place stays the same file with its mode, and is emptied instead of removed")
  func inPlace() async throws {
    let sink = sink(0o640, isInPlace: true)
    try await put("a long first token", sink)
    let first = status(path)
    try await put("second", sink)
    #expect(Files.text(path) == "second" && status(path).st_ino == first.st_ino)
    #expect(status(path).st_mode & 0o7777 == 0o640 && folder.names == ["token"])
    try await files.remove(path, keepingFile: true)
    #expect(Files.text(path) == "" && status(path).st_ino == first.st_ino)
    try await put("third", sink)
    #expect(Files.text(path) == "third" && status(path).st_ino == first.st_ino)
  }

  @Test(
    "an empty file of this user may be written in place, but not one with content, a link or another user's file")
  func prepared() async throws {
    let sink = sink(isInPlace: true)
    try Files.write("", to: path)
    let before = status(path)
    await #expect(throws: SinkFailure.occupied) { try await files.requireFree(for: self.sink()) }
    try await files.requireFree(for: sink)
    try await put("token", sink)
    #expect(Files.text(path) == "token" && status(path).st_ino == before.st_ino)
    try Files.write("mine", to: folder.file("other"))
    rename(folder.file("other"), path)
    await #expect(throws: SinkFailure.occupied) { try await files.requireFree(for: sink) }
    await #expect(throws: SinkFailure.occupied) { try await put("again", sink) }
    try await files.remove(path, keepingFile: true)
    #expect(Files.text(path) == "mine")
    unlink(path)
    symlink(folder.file("none"), path)
    await #expect(throws: SinkFailure.notRegular) { try await put("again", sink) }
  }

  @Test("a reader with a lock sees no mix of two tokens, and cannot keep a token in the file")
  func locked() async throws {
    let sink = sink(isInPlace: true)
    try await put("first", sink)
    let reader = open(path, O_RDONLY)
    defer { close(reader) }
    try #require(flock(reader, LOCK_SH) == 0)
    await #expect(throws: SinkFailure.self) { try await put("second", sink) }
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = read(reader, &buffer, buffer.count)
    #expect(String(decoding: buffer[..<max(count, 0)], as: UTF8.self) == "first")
    flock(reader, LOCK_UN)
    try await put("second", sink)
    #expect(Files.text(path) == "second")
    try #require(flock(reader, LOCK_SH) == 0)
    try await files.remove(path, keepingFile: true)
    #expect(Files.text(path) == "", "no reader can keep a token there")
  }

  @Test("a folder that is a link leads to the same place, and another name to another one")
  func place() async throws {
    symlink(folder.file(""), folder.file("link"))
    #expect(try await files.place(of: path) == files.place(of: folder.file("link/token")))
    #expect(try await files.place(of: path) != files.place(of: folder.file("link/other")))
    await #expect(throws: SinkFailure.folderMissing) { try await files.place(of: folder.file("none/token")) }
  }

  @Test("a link is neither followed nor replaced nor removed")
  func link() async throws {
    try Files.write("mine", to: folder.file("target"))
    symlink(folder.file("target"), path)
    await #expect(throws: SinkFailure.notRegular) { try await put("token") }
    await #expect(throws: SinkFailure.occupied) { try await files.requireFree(for: sink()) }
    try await files.remove(path, keepingFile: false)
    #expect(Files.text(folder.file("target")) == "mine" && status(path).st_mode & S_IFMT == S_IFLNK)
    #expect(folder.names == ["target", "token"])
  }

  @Test("a link in place of the file that is being written is not followed")
  func draftLink() async throws {
    try Files.write("mine", to: folder.file("target"))
    symlink(folder.file("target"), folder.file(".token.hearth-new"))
    try await put("token")
    #expect(Files.text(folder.file("target")) == "mine" && Files.text(path) == "token")
    #expect(folder.names == ["target", "token"])
  }

  @Test("a folder in which others may write is refused, with the sticky bit as well")
  func sharedFolder() async throws {
    for mode: mode_t in [0o777, 0o770, 0o702] {
      chmod(folder.path, mode)
      let why = "other users can write to \(folder.path); run \"chmod go-w \(folder.path)\""
      await #expect(throws: SinkFailure.folderUnsafe(why)) { try await put("token") }
      #expect(folder.names.isEmpty)
    }
    chmod(folder.path, 0o1777)
    let why = "\(folder.path) is shared with other users; choose a folder of your own"
    await #expect(throws: SinkFailure.folderUnsafe(why)) { try await put("token") }
    #expect(folder.names.isEmpty)
  }

  @Test("each folder above is one's own or root's, and others may write there only with the sticky bit")
  func above() async throws {
    let inner = folder.file("a/b")
    try #require(mkdir(folder.file("a"), 0o700) == 0 && mkdir(inner, 0o700) == 0)
    try #require(symlink(inner, folder.file("link")) == 0 && symlink("../a/./b", folder.file("a/relative")) == 0)
    chmod(folder.path, 0o1777)
    for path in ["a/b/token", "link/token", "a/relative/token"] { try await put("1", sink(at: folder.file(path))) }
    for changed in [folder.file("a"), folder.path] {
      chmod(changed, 0o707)
      for path in ["a/b/token", "link/token", "a/relative/token"] {
        let why = "other users can write to \(changed); run \"chmod go-w \(changed)\""
        await #expect(throws: SinkFailure.folderUnsafe(why)) { try await put("2", sink(at: folder.file(path))) }
      }
      chmod(changed, 0o700)
    }
    #expect(Files.text(inner + "/token") == "1")
  }

  @Test("another user's folder, parent or link is refused", .enabled(if: geteuid() == 0, "needs root"))
  func foreignFolder() async throws {
    let (outer, inner) = (folder.file("a"), folder.file("a/b"))
    try #require(mkdir(outer, 0o700) == 0 && mkdir(inner, 0o700) == 0 && symlink(inner, folder.file("link")) == 0)
    lchown(folder.file("link"), 65534, 65534)
    func refuses(_ foreign: String, _ path: String) async {
      let why = "\(foreign) belongs to user 65534; choose a folder of your own"
      await #expect(throws: SinkFailure.folderUnsafe(why)) { try await put("token", sink(at: folder.file(path))) }
    }
    await refuses(folder.file("link"), "link/token")
    chown(outer, 65534, 65534)
    await refuses(outer, "a/b/token")
    await refuses(outer, "a/token")
  }

  @Test("a file that somebody has put in its place is neither replaced nor removed")
  func exchanged() async throws {
    try await put("token")
    try Files.write("mine", to: folder.file("other"))
    rename(folder.file("other"), path)
    await #expect(throws: SinkFailure.occupied) { try await put("token") }
    try await files.remove(path, keepingFile: false)
    #expect(Files.text(path) == "mine")
    unlink(path)
    try await put("token")
    // It is the same file, whatever was written to it.
    try Files.write("token and more", to: path)
    try await put("again")
    #expect(Files.text(path) == "again")
    try await files.remove(path, keepingFile: false)
    #expect(folder.names.isEmpty)
  }

  @Test("what a crash has left is known by its mark, and what somebody has put in its place since then is left alone")
  func crashed() async throws {
    let last = try await put("left", by: files)
    let next = try await files.begin(at: sink())
    // The process is gone, before or after the next file took the place of the last one.
    func restarted() -> LinuxSinkFiles { LinuxSinkFiles(marks: [last, next]) }
    try Files.write("mine", to: folder.file("other"))
    rename(path, folder.file("left"))
    rename(folder.file("other"), path)
    await #expect(throws: SinkFailure.occupied) { try await put("token", by: restarted()) }
    try await restarted().remove(path, keepingFile: false)
    #expect(Files.text(path) == "mine")
    rename(folder.file("left"), path)
    try await restarted().remove(path, keepingFile: false)
    #expect(!folder.names.contains("token"))
    try await put("token", by: LinuxSinkFiles(marks: []))
    try await put("again", by: LinuxSinkFiles(marks: []))
    #expect(Files.text(path) == "again", "nobody knows what an earlier version left")
  }

  @Test("another user's file in its place is neither replaced nor removed", .enabled(if: geteuid() == 0, "needs root"))
  func foreignFile() async throws {
    try Files.write("theirs", to: path)
    chown(path, 65534, 65534)
    await #expect(throws: SinkFailure.occupied) { try await put("token") }
    #expect(Files.text(path) == "theirs")
  }

  @Test("what a crash has left half written goes with the next put, and with a removal")
  func draft() async throws {
    try Files.write("half", to: folder.file(".token.hearth-new"))
    try await put("whole")
    #expect(folder.names == ["token"])
    try Files.write("half", to: folder.file(".token.hearth-new"))
    try await files.remove(path, keepingFile: false)
    #expect(folder.names.isEmpty)
  }

  @Test("a removal of what is not there is done; a folder in its place stays")
  func removeNothing() async throws {
    try await files.remove(path, keepingFile: false)
    try await files.remove(folder.file("no/such/folder/token"), keepingFile: false)
    mkdir(path, 0o700)
    try await files.remove(path, keepingFile: false)
    await #expect(throws: SinkFailure.notRegular) { try await put("token") }
    #expect(folder.names == ["token"])
  }

  @Test("a missing folder, a missing user and a missing group are told apart, and leave nothing behind")
  func failures() async throws {
    await #expect(throws: SinkFailure.folderMissing) { try await put("x", sink(at: folder.file("no/token"))) }
    await #expect(throws: SinkFailure.unknownOwner("no such user")) { try await put("x", sink(owner: "no such user")) }
    await #expect(throws: SinkFailure.unknownOwner("no such group")) {
      try await put("x", sink(group: "no such group"))
    }
    #expect(folder.names.isEmpty)
  }

  @Test("a file is given to its owner and group, by name or number", .enabled(if: geteuid() == 0, "needs root"))
  func owner() async throws {
    try await put("x", sink(0o640, owner: "65534", group: "daemon"))
    let given = status(path)
    #expect(given.st_uid == 65534 && given.st_gid == 1 && given.st_mode & 0o7777 == 0o640)
    try await put("y", sink(owner: "nobody"))
    #expect(status(path).st_uid == 65534 && Files.text(path) == "y", "also over a file that was given away")
  }
}
