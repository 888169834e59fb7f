import Glibc

/// A folder of gocryptfs, which is encrypted and away until it is mounted. Of its comings and goings inotify tells
/// nothing.
final class SealedFolder {
  /// Where it is seen while it is open.
  let path: String
  private let ciphers: String

  init(on stage: Stage) throws {
    path = "\(stage.folder)/open"
    ciphers = "\(stage.folder)/sealed"
    try Files.makeFolder(path)
    try Files.makeFolder(ciphers)
    try Self.require(["/usr/bin/gocryptfs", "-q", "-init", "-scryptn", "10"] + Self.passphrase + [ciphers])
  }

  deinit { try? unmount() }

  func mount() throws { try Self.require(["/usr/bin/gocryptfs", "-q"] + Self.passphrase + [ciphers, path]) }

  func unmount() throws { try Self.require(Self.unmounting + [path]) }

  /// Tried, since a kernel's module, a device and a right are needed for it.
  static let isPossible: Bool = {
    guard Files.exists("/usr/bin/gocryptfs"), Files.exists("/dev/fuse") else { return false }
    var template = Array("/tmp/hearth-fuse-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { return false }
    let folder = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    defer { Files.removeTree(folder) }
    do {
      try Files.makeFolder(folder + "/a")
      try Files.makeFolder(folder + "/b")
      try require(["/usr/bin/gocryptfs", "-q", "-init", "-scryptn", "10"] + passphrase + [folder + "/a"])
      try require(["/usr/bin/gocryptfs", "-q"] + passphrase + [folder + "/a", folder + "/b"])
      try require(unmounting + [folder + "/b"])
      return true
    } catch {
      return false
    }
  }()

  private static let passphrase = ["-extpass", "/bin/echo", "-extpass", "sesame"]
  private static let unmounting = getuid() == 0 ? ["/bin/umount"] : ["/usr/bin/fusermount", "-u"]

  /// Runs a program to its end, which must be a good one.
  private static func require(_ line: [String]) throws {
    var pid: pid_t = 0
    let words = line.map { strdup($0) }
    defer { words.forEach { free($0) } }
    guard posix_spawn(&pid, line[0], nil, nil, words + [nil], environ) == 0 else { throw CallFailure(line[0]) }
    var status: Int32 = 0
    guard waitpid(pid, &status, 0) == pid, status == 0 else {
      throw NeverHappened(description: "\(line) ended with \(status).")
    }
  }
}
