import Glibc
import TestSupport

/// A folder of gocryptfs, which is encrypted and away until it is mounted. Of its comings and goings inotify tells
/// nothing.
final class SealedFolder {
  /// Where it is seen while it is open.
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

  /// Refused while the daemon has a look at what is in it.
  func unmount() throws {
    try eventually("it is unmounted") { (try? Command.run(Self.unmounting + [path])) != nil }
  }

  /// Whoever touches it waits, until it is fixed.
  func hang() throws { try signal(SIGSTOP) }

  func fix() throws { try signal(SIGCONT) }

  private func signal(_ number: Int32) throws {
    let server = Files.names(in: "/proc").compactMap { pid_t($0) }.first { pid in
      let line = Files.text("/proc/\(pid)/cmdline").split(separator: "\0")
      return line.first?.hasSuffix("gocryptfs") == true && line.last.map { $0 == path } ?? false
    }
    guard let server, kill(server, number) == 0 else { throw CallFailure("kill gocryptfs") }
  }

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
