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

  @Test("What is written is read back, with its status")
  func roundTrip() async throws {
    let before = Timestamp(seconds: Int64(time(nil)) - 1)
    try await files.createFile(path)
    try await files.write(Array("hello, world".utf8), to: path)
    try await files.write(Array("hello".utf8), to: path)
    try await files.syncFile(path)
    try await files.syncFolder(folder.path)
    let contents = try await files.read(path, limit: 5, followsLink: false)
    #expect(contents.bytes == Array("hello".utf8))
    #expect(contents.status == (try await files.status(path)))
    #expect(contents.status.kind == .file && contents.status.isOwn && contents.status.mode == 0o600)
    #expect(contents.status.modified >= before)
  }

  @Test("Files and folders are made for their owner alone")
  func modes() async throws {
    try await files.createFile(path)
    try await files.createFolder(folder.path + "/sub")
    #expect(try await files.status(path).mode == 0o600)
    #expect(try await files.status(folder.path + "/sub").mode == 0o700)
    try await files.setMode(path, to: 0o640)
    #expect(try await files.status(path).mode == 0o640)
  }

  @Test("What is there is not made anew")
  func exists() async throws {
    try await files.createFile(path)
    await #expect(throws: FileError.exists) { try await files.createFile(path) }
    await #expect(throws: FileError.exists) { try await files.createFolder(path) }
  }

  @Test("Room that is allocated is there, and cut to what is written")
  func allocated() async throws {
    try await files.createFile(path)
    try await files.allocate(path, bytes: 64 << 10)
    #expect(try await files.status(path).size == 64 << 10)
    try await files.write([1, 2, 3], to: path)
    #expect(try await files.read(path, limit: 9, followsLink: false).bytes == [1, 2, 3])
  }

  @Test("A rename puts the new file in place of the old one; what is removed is gone")
  func renamed() async throws {
    try await files.createFile(path)
    try await files.createFile(folder.path + "/new")
    try await files.write([7], to: folder.path + "/new")
    let old = try await files.status(path).inode
    try await files.rename(folder.path + "/new", to: path)
    #expect(try await files.status(path).inode != old)
    #expect(try await files.names(in: folder.path) == ["file"])
    try await files.removeFile(path)
    await #expect(throws: FileError.absent) { _ = try await files.status(path) }
    #expect(try await files.names(in: folder.path) == [])
  }

  @Test("Each step on what is not there says so")
  func absent() async throws {
    let path = folder.path + "/absent/file"
    await #expect(throws: FileError.absent) { _ = try await files.read(path, limit: 9, followsLink: false) }
    await #expect(throws: FileError.absent) { _ = try await files.status(path) }
    await #expect(throws: FileError.absent) { _ = try await files.target(ofLink: path) }
    await #expect(throws: FileError.absent) { _ = try await files.names(in: path) }
    await #expect(throws: FileError.absent) { try await files.createFile(path) }
    await #expect(throws: FileError.absent) { try await files.allocate(path, bytes: 9) }
    await #expect(throws: FileError.absent) { try await files.write([], to: path) }
    await #expect(throws: FileError.absent) { try await files.syncFile(path) }
    await #expect(throws: FileError.absent) { try await files.rename(path, to: self.path) }
    await #expect(throws: FileError.absent) { try await files.syncFolder(path) }
    await #expect(throws: FileError.absent) { try await files.removeFile(path) }
    await #expect(throws: FileError.absent) { try await files.createFolder(path) }
    await #expect(throws: FileError.absent) { try await files.setMode(path, to: 0o600) }
  }

  @Test("A file where a folder should be is a failure, and no absence")
  func notAFolder() async throws {
    try await files.createFile(path)
    await #expect(throws: FileError.failed("Not a directory")) { _ = try await files.status(path + "/below") }
  }

  @Test("A link is followed only where that is asked for")
  func link() async throws {
    try await files.createFile(path)
    try await files.write([7], to: path)
    let link = folder.path + "/link"
    #expect(symlink("file", link) == 0)
    #expect(try await files.status(link).kind == .link)
    #expect(try await files.target(ofLink: link) == "file")
    #expect(try await files.read(link, limit: 9, followsLink: true).bytes == [7])
    await #expect(throws: FileError.symbolicLink) { _ = try await files.read(link, limit: 9, followsLink: false) }
    await #expect(throws: FileError.symbolicLink) { try await files.write([8], to: link) }
    await #expect(throws: FileError.symbolicLink) { try await files.setMode(link, to: 0o600) }
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

  @Test("A file that is longer than the limit is not read")
  func tooBig() async throws {
    try await files.createFile(path)
    try await files.write([1, 2, 3], to: path)
    await #expect(throws: FileError.tooBig) { _ = try await files.read(path, limit: 2, followsLink: false) }
    #expect(try await files.read(path, limit: 3, followsLink: false).bytes == [1, 2, 3])
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

  @Test("A step that hangs is answered when its time is up, and so are those behind it; then the lane goes on")
  func hung() async throws {
    let lane = BlockingLane(limit: .milliseconds(20))
    let gate = DispatchSemaphore(value: 0)
    await #expect(throws: FileError.unanswered(.milliseconds(20))) { try await lane.run { gate.wait() } }
    await #expect(throws: FileError.unanswered(.milliseconds(20))) {
      try await lane.run { Issue.record("a step was made whose time was up") }
    }
    gate.signal()
    var answer: Int?
    while answer == nil { answer = try? await lane.run { 7 } }
    #expect(answer == 7)
  }

  @Test("A mount that hangs holds up no other account")
  func lanesAreApart() async throws {
    let gate = DispatchSemaphore(value: 0)
    let hanging = BlockingLane(limit: .milliseconds(20))
    await #expect(throws: FileError.self) { try await hanging.run { gate.wait() } }
    #expect(try await BlockingLane(limit: .seconds(60)).run { 7 } == 7)
    gate.signal()
  }
}
