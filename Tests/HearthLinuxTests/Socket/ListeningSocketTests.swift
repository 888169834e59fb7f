import FoundationEssentials
import Glibc
import HearthControl
import HearthLinux
import TestSupport
import Testing

@Suite struct ListeningSocketTests {
  private let folder = TemporaryFolder()

  private func mode(_ path: String) -> mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
  }

  @Test("makes folders 0700 where they are missing and the socket 0600, whatever the umask")
  func modes() throws {
    let path = folder.file("a/b/rpc.sock")
    let socket = try ListeningSocket(path: path)
    defer { close(socket.descriptor) }
    #expect(mode(folder.file("a")) == 0o700)
    #expect(mode(folder.file("a/b")) == 0o700)
    #expect(mode(path) == 0o600)
  }

  @Test("one that was passed knows its place, and leaves its file to whom it belongs")
  func passed() throws {
    let path = folder.file("passed.sock")
    let socket = try ListeningSocket(path: path)
    defer { close(socket.descriptor) }
    let passed = ListeningSocket(passed: socket.descriptor)
    #expect(passed.path == path)
    passed.removeFile()
    #expect(mode(path) == 0o600)
  }

  @Test("leaves a folder that is there as it is")
  func existingFolder() throws {
    mkdir(folder.file("open"), 0o755)
    chmod(folder.file("open"), 0o755)
    let socket = try ListeningSocket(path: folder.file("open/rpc.sock"))
    defer { close(socket.descriptor) }
    #expect(mode(folder.file("open")) == 0o755)
  }

  @Test(
    "refuses a folder that others may write, makes nothing there, and says what to do",
    arguments: [0o775, 0o707, 0o777])
  func openFolder(mode: mode_t) throws {
    let open = folder.file("open")
    mkdir(open, 0o700)
    chmod(open, mode)
    let failure = ListeningSocket.Failure.exposed(folder: open, owner: nil)
    #expect(throws: failure) { try ListeningSocket(path: open + "/rpc.sock") }
    #expect(access(open + "/rpc.sock", F_OK) != 0)
    #expect(
      failure.description
        == "Cannot use the socket's folder \(open), because other users can write to it. Run \"chmod go-w \(open)\".")
    // As in /tmp nobody else can take the place of the socket.
    chmod(open, mode | S_ISVTX)
    close(try ListeningSocket(path: open + "/rpc.sock").descriptor)
  }

  @Test("refuses a folder of another user", .enabled(if: geteuid() == 0, "only root can make one"))
  func foreignFolder() throws {
    let foreign = folder.file("foreign")
    mkdir(foreign, 0o755)
    #expect(chown(foreign, 4242, 4242) == 0)
    #expect(throws: ListeningSocket.Failure.exposed(folder: foreign, owner: 4242)) {
      try ListeningSocket(path: foreign + "/rpc.sock")
    }
  }

  @Test("replaces a socket that nobody listens on")
  func stale() throws {
    let path = folder.file("rpc.sock")
    close(try ListeningSocket(path: path).descriptor)
    #expect(access(path, F_OK) == 0)
    let socket = try ListeningSocket(path: path)
    defer { close(socket.descriptor) }
    #expect(throws: Never.self) { try RawClient(path: path) }
  }

  @Test("never takes a live one's place, also when its queue is full")
  func live() throws {
    let path = folder.file("rpc.sock")
    let socket = try ListeningSocket(path: path)
    defer { close(socket.descriptor) }
    #expect(throws: ListeningSocket.Failure.taken(path: path)) { try ListeningSocket(path: path) }
    // The attempt above waits in the queue, which is now full.
    listen(socket.descriptor, 0)
    #expect(throws: ListeningSocket.Failure.taken(path: path)) { try ListeningSocket(path: path) }
  }

  @Test("never touches a file that is not a socket, nor a link")
  func noSocket() throws {
    let path = folder.file("rpc.sock")
    try "precious".write(toFile: path, atomically: false, encoding: .utf8)
    #expect(throws: ListeningSocket.Failure.notASocket(path: path)) { try ListeningSocket(path: path) }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    let link = folder.file("link")
    symlink(path, link)
    #expect(throws: ListeningSocket.Failure.notASocket(path: link)) { try ListeningSocket(path: link) }
  }

  @Test("says when the path is too long for a socket")
  func tooLong() {
    let path = folder.file(String(repeating: "a", count: 107))
    #expect(throws: ListeningSocket.Failure.unfit(.tooLong(path))) { try ListeningSocket(path: path) }
  }

  @Test("removes its own file and not another's that has taken its place")
  func removes() throws {
    let path = folder.file("rpc.sock")
    let first = try ListeningSocket(path: path)
    first.removeFile()
    #expect(access(path, F_OK) != 0)
    // The old one lives on, so that its inode number is not given to the new one.
    let second = try ListeningSocket(path: path)
    defer {
      close(first.descriptor)
      close(second.descriptor)
    }
    first.removeFile()
    #expect(access(path, F_OK) == 0)
  }
}
