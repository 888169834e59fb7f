import Dispatch
import Glibc
import HearthCore
import TestSupport
import Testing

@testable import HearthLinux

@Suite("The files of this machine")
struct LinuxFileSystemTests {
  let files = LinuxFileSystem()
  let folder = TemporaryFolder()
  private var path: String { folder.path + "/file" }

  @Test("A file is modified when it is written")
  func modified() async throws {
    let before = Timestamp(seconds: Int64(time(nil)) - 1)
    try await files.createFile(path)
    try await files.write([7], to: path)
    #expect(try await files.status(path).modified >= before)
  }

  @Test("A link may be relative to its own folder")
  func relativeLink() async throws {
    try await files.createFile(path)
    try await files.write([7], to: path)
    let link = folder.path + "/link"
    #expect(symlink("file", link) == 0)
    #expect(try await files.target(ofLink: link) == "file")
    #expect(try await files.read(link, limit: 9, followsLink: true).bytes == [7])
  }

  @Test("Folders, pipes and devices are no files, and nobody waits for a pipe's other end")
  func notRegular() async throws {
    #expect(mkfifo(path, 0o600) == 0)
    for path in [path, folder.path, "/dev/null"] {
      await #expect(throws: FileError.notRegular) { _ = try await files.read(path, limit: 9, followsLink: false) }
    }
  }

  @Test("A file with a second name is not written to")
  func hardLink() async throws {
    try await files.createFile(path)
    #expect(Glibc.link(path, folder.path + "/second") == 0)
    await #expect(throws: FileError.notRegular) { try await files.write([7], to: path) }
  }

  @Test("No descriptor is left open by any step")
  func descriptors() async throws {
    func isOpen() throws -> Bool {
      let stream = try #require(opendir("/proc/self/fd"))
      defer { closedir(stream) }
      var isOpen = false
      while let entry = readdir(stream) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
          pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        var target = [UInt8](repeating: 0, count: 4096)
        let count = target.withUnsafeMutableBytes { readlink("/proc/self/fd/\(name)", $0.baseAddress!, $0.count) }
        if count > 0, String(decoding: target[..<count], as: UTF8.self).hasPrefix(folder.path) { isOpen = true }
      }
      return isOpen
    }
    try await files.createFile(path)
    try await files.allocate(path, bytes: 9)
    try await files.write([1, 2, 3], to: path)
    try await files.syncFile(path)
    try await files.syncFolder(folder.path)
    _ = try await files.names(in: folder.path)
    _ = try await files.read(path, limit: 9, followsLink: false)
    await #expect(throws: FileError.tooBig) { _ = try await files.read(path, limit: 2, followsLink: false) }
    #expect(try !isOpen())
    let descriptor = open(path, O_RDONLY)
    #expect(try isOpen())
    close(descriptor)
  }

  @Test(
    "What the locks forbid is told as such",
    .disabled(if: geteuid() == 0, "permissions do not bind root"), arguments: [0o000, 0o600] as [mode_t])
  func permissions(mode: mode_t) async throws {
    try await files.createFile(path)
    chmod(mode == 0 ? path : folder.path, mode)
    defer { chmod(folder.path, 0o700) }
    await #expect(throws: FileError.permissionDenied) { _ = try await files.read(path, limit: 9, followsLink: false) }
    await #expect(throws: FileError.permissionDenied) { try await files.write([], to: path) }
  }

  @Test(
    "The system's errors mean what the credential store must know",
    arguments: [
      (ENOENT, FileError.absent), (EEXIST, .exists), (EACCES, .permissionDenied), (EPERM, .permissionDenied),
      (ENOKEY, .keyUnavailable("Required key not available")),
      (ENOTCONN, .volumeUnavailable("Transport endpoint is not connected")),
      (ESTALE, .volumeUnavailable("Stale file handle")), (ENODEV, .volumeUnavailable("No such device")),
      (ENOSPC, .noSpace), (EDQUOT, .noSpace), (ELOOP, .symbolicLink), (EIO, .failed("Input/output error")),
      (EROFS, .failed("Read-only file system")),
    ])
  func errors(number: Int32, error: FileError) {
    #expect(FileError(errno: number) == error)
  }

  @Test("A step that hangs is answered when its time is up, and so are those behind it; then the queue goes on")
  func hung() async throws {
    let calls = BlockingCallQueue<FileError>(limit: .milliseconds(20))
    let gate = DispatchSemaphore(value: 0)
    await #expect(throws: FileError.unanswered(.milliseconds(20))) { try await calls.run { gate.wait() } }
    await #expect(throws: FileError.unanswered(.milliseconds(20))) {
      try await calls.run { Issue.record("a step was made whose time was up") }
    }
    gate.signal()
    var answer: Int?
    while answer == nil { answer = try? await calls.run { 7 } }
    #expect(answer == 7)
  }

  @Test("A mount that hangs holds up no other account")
  func queuesAreApart() async throws {
    let gate = DispatchSemaphore(value: 0)
    let hanging = BlockingCallQueue<FileError>(limit: .milliseconds(20))
    await #expect(throws: FileError.self) { try await hanging.run { gate.wait() } }
    #expect(try await BlockingCallQueue<FileError>(limit: .seconds(60)).run { 7 } == 7)
    gate.signal()
  }
}
