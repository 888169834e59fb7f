import Glibc
import TestSupport

/// A folder of gocryptfs, which is encrypted and missing until it is mounted. inotify does not report mounts and
/// unmounts.
final class SealedFolder {
  /// The path of the folder while it is mounted.
  let path: String
  private let ciphers: String

  init(on environment: TestEnvironment) throws {
    path = "\(environment.folder)/open"
    ciphers = "\(environment.folder)/sealed"
    try Files.makeFolder(path)
    try Files.makeFolder(ciphers)
    try Command.run(["/usr/bin/gocryptfs", "-q", "-init", "-scryptn", "10"] + Self.passphrase + [ciphers])
  }

  deinit {
    try? fix()
    try? Command.run(Self.unmounting + [path])
  }

  func mount() throws { try Command.run(["/usr/bin/gocryptfs", "-q"] + Self.passphrase + [ciphers, path]) }

  /// Retries, because it fails while the daemon is reading the folder.
  func unmount() throws {
    try eventually("it is unmounted") { (try? Command.run(Self.unmounting + [path])) != nil }
  }

  /// Suspends the file system, so that whoever accesses it waits.
  func hang() throws { try signal(SIGSTOP) }

  func fix() throws { try signal(SIGCONT) }

  private func signal(_ number: Int32) throws {
    let server = Files.names(in: "/proc").compactMap { pid_t($0) }.first { pid in
      let line = Files.text("/proc/\(pid)/cmdline").split(separator: "\0")
      return line.first?.hasSuffix("gocryptfs") == true && line.last.map { $0 == path } ?? false
    }
    guard let server, kill(server, number) == 0 else { throw CallFailure("kill gocryptfs") }
  }

  /// Tries it, because it needs a kernel module, a device and a privilege.
  static let isPossible: Bool = {
    guard Files.exists("/usr/bin/gocryptfs"), Files.exists("/dev/fuse") else { return false }
    var template = Array("/tmp/hearth-fuse-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { return false }
    let folder = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    defer { Files.removeTree(folder) }
    do {
      try Files.makeFolder(folder + "/a")
      try Files.makeFolder(folder + "/b")
      try Command.run(["/usr/bin/gocryptfs", "-q", "-init", "-scryptn", "10"] + passphrase + [folder + "/a"])
      try Command.run(["/usr/bin/gocryptfs", "-q"] + passphrase + [folder + "/a", folder + "/b"])
      try Command.run(unmounting + [folder + "/b"])
      return true
    } catch {
      return false
    }
  }()

  private static let passphrase = ["-extpass", "/bin/echo", "-extpass", "sesame"]
  private static let unmounting = getuid() == 0 ? ["/bin/umount"] : ["/usr/bin/fusermount", "-u"]
}
