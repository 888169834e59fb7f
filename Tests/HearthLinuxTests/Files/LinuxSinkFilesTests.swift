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
    _ mode: UInt32 = 0o600, at path: String? = nil, owner: String? = nil, group: String? = nil
  ) -> SinkSettings {
    SinkSettings(account: .sample, path: path ?? self.path, mode: mode, owner: owner, group: group)
  }

  private func put(_ text: String, _ sink: SinkSettings? = nil) async throws(SinkFailure) {
    try await files.put(Array(text.utf8), at: sink ?? self.sink())
  }

  private func status(_ path: String) -> stat {
    var status = stat()
    lstat(path, &status)
    return status
  }

  @Test(
    "a file has the mode that is configured, whatever the umask", .serialized,
    arguments: [0o000, 0o022, 0o077, 0o777], [0o600, 0o640, 0o444])
  func mode(umask mask: mode_t, mode: UInt32) async throws {
    let before = umask(mask)
    defer { umask(before) }
    try await put("one", sink(mode))
    #expect(status(path).st_mode & 0o7777 == mode && Files.text(path) == "one")
    #expect(folder.names == ["token"])
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
    await #expect(throws: SinkFailure.occupied) { try await files.requireFree(path) }
    try await files.remove(path)
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

  @Test("a folder in which others may write is refused, but with the sticky bit")
  func sharedFolder() async throws {
    for mode: mode_t in [0o777, 0o770, 0o702] {
      chmod(folder.path, mode)
      await #expect(throws: SinkFailure.folderUnsafe("may be written by others: run \"chmod go-w\" on it")) {
        try await put("token")
      }
      #expect(folder.names.isEmpty)
    }
    chmod(folder.path, 0o1777)
    try await put("token")
    #expect(Files.text(path) == "token")
  }

  @Test("another user's folder is refused", .enabled(if: geteuid() == 0, "needs root"))
  func foreignFolder() async throws {
    chown(folder.path, 65534, 65534)
    await #expect(throws: SinkFailure.folderUnsafe("belongs to user 65534: name one of your own")) {
      try await put("token")
    }
  }

  @Test("what a crash has left half written goes with the next put, and with a removal")
  func draft() async throws {
    try Files.write("half", to: folder.file(".token.hearth-new"))
    try await put("whole")
    #expect(folder.names == ["token"])
    try Files.write("half", to: folder.file(".token.hearth-new"))
    try await files.remove(path)
    #expect(folder.names.isEmpty)
  }

  @Test("a removal of what is not there is done; a folder in its place stays")
  func removeNothing() async throws {
    try await files.remove(path)
    try await files.remove(folder.file("no/such/folder/token"))
    mkdir(path, 0o700)
    try await files.remove(path)
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
