import Glibc
package import HearthControl

/// A listening Unix socket that Hearth created at a path or that the service manager passed.
package struct ListeningSocket: Sendable {
  package let descriptor: Int32
  /// The socket's path, or `nil` if a passed socket has no path.
  package let path: String?
  /// Whether the service manager created the socket. If so, Hearth does not remove the socket's file.
  package let isPassed: Bool
  /// The inode of the socket's file, or `nil` if a passed socket has no path or its file was already removed or
  /// replaced when the socket was passed.
  private let inode: Inode?

  private struct Inode: Equatable, Sendable {
    let device: dev_t
    let number: ino_t
  }

  /// Why Hearth cannot listen, as a human-readable sentence.
  package enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    case unfit(SocketPath.Failure)
    case notASocket(path: String)
    /// Other users could replace the socket with their own. `owner` is the folder's owner if it is another user, or
    /// `nil` if other users have write access to the folder.
    case exposed(folder: String, owner: UInt32?)
    /// Another process is listening on the socket.
    case taken(path: String)
    case system(path: String, SystemCallFailure)

    package var description: String {
      switch self {
      case .unfit(let failure): failure.description
      case .notASocket(let path):
        "\(path) is not a socket, so the daemon cannot listen there. Remove it or choose another path."
      case .exposed(let folder, let owner?):
        "Cannot use the socket's folder \(folder), because it belongs to user \(owner). It must belong to you or to "
          + "root."
      case .exposed(let folder, nil):
        "Cannot use the socket's folder \(folder), because other users can write to it. Run \"chmod go-w \(folder)\"."
      case .taken(let path): "Another process already listens on the socket \(path)."
      case .system(let path, let failure): "Cannot create the socket \(path): \(failure)."
      }
    }
  }

  /// Takes over a socket that the service manager has bound and passed. The service manager owns its file.
  package init(passed descriptor: Int32) {
    self.descriptor = descriptor
    isPassed = true
    let path = Self.path(of: descriptor)
    self.path = path
    inode = path.flatMap { path in Self.isServed(path) ? Self.inode(of: path) : nil }
  }

  private static func path(of descriptor: Int32) -> String? {
    var address = sockaddr_un()
    var length = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    guard result == 0 else { return nil }
    let path = withUnsafeBytes(of: address.sun_path) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    return path.isEmpty ? nil : path
  }

  /// Creates the socket with mode 0600, and missing folders on its path with mode 0700.
  ///
  /// Replaces a socket file on which no process listens. Throws if a process listens, or if the file is not a socket.
  package init(path: String) throws {
    do { try SocketPath.check(path) } catch { throw Failure.unfit(error) }
    let folder = Self.folder(of: path)
    try Self.makeFolder(folder, for: path)
    // Holds the lock while checking the old socket and creating the new one. Otherwise, of two daemons starting at the
    // same time, one could mistake the other's new socket for a stale one.
    let lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard lock >= 0 else { throw Failure.system(path: path, SystemCallFailure("open")) }
    defer { close(lock) }
    try Self.check(lock, of: folder, for: path)
    while flock(lock, LOCK_EX) != 0 {
      guard errno == EINTR else { throw Failure.system(path: path, SystemCallFailure("flock")) }
    }
    try Self.removeStale(path)
    descriptor = try Self.listen(at: path)
    isPassed = false
    self.path = path
    inode = Self.inode(of: path)
  }

  /// Removes the socket's file if it is still the one that Hearth created. Does not close the descriptor.
  package func removeFile() {
    if let path, !isPassed, isInPlace { unlink(path) }
  }

  /// Whether clients can find the socket at its path. Always true for a socket without a path.
  package var isInPlace: Bool { path.map { inode != nil && Self.inode(of: $0) == inode } ?? true }

  private static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func makeFolder(_ folder: String, for path: String) throws {
    if mkdir(folder, 0o700) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, folder.contains("/") else { throw Failure.system(path: path, SystemCallFailure("mkdir")) }
    try makeFolder(self.folder(of: folder), for: path)
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
      throw Failure.system(path: path, SystemCallFailure("mkdir"))
    }
  }

  /// Throws if other users could replace the socket in this folder. The sticky bit prevents this, as on /tmp
  /// (unlink(2)). In any case, `hearthctl` verifies the server's owner.
  private static func check(_ descriptor: Int32, of folder: String, for path: String) throws {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Failure.system(path: path, SystemCallFailure("fstat")) }
    guard status.st_uid == geteuid() || status.st_uid == 0 else {
      throw Failure.exposed(folder: folder, owner: status.st_uid)
    }
    guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 || status.st_mode & S_ISVTX != 0 else {
      throw Failure.exposed(folder: folder, owner: nil)
    }
  }

  private static func inode(of path: String) -> Inode? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    return Inode(device: status.st_dev, number: status.st_ino)
  }

  private static func removeStale(_ path: String) throws {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      if errno == ENOENT { return }
      throw Failure.system(path: path, SystemCallFailure("lstat"))
    }
    guard status.st_mode & S_IFMT == S_IFSOCK else { throw Failure.notASocket(path: path) }
    let code = try probe(path)
    switch code {
    case ECONNREFUSED:
      guard unlink(path) == 0 || errno == ENOENT else { throw Failure.system(path: path, SystemCallFailure("unlink")) }
    case ENOENT: break
    // EAGAIN means that the queue of connections is full, so a process is listening.
    case 0, EAGAIN: throw Failure.taken(path: path)
    default: throw Failure.system(path: path, SystemCallFailure("connect", code: code))
    }
  }

  /// Returns the errno value of an attempt to connect, or 0 if the attempt succeeds.
  private static func probe(_ path: String) throws -> Int32 {
    let probe = try makeSocket(path, SOCK_NONBLOCK)
    defer { close(probe) }
    return SocketPath.withAddress(of: path) { connect(probe, $0, $1) } == 0 ? 0 : errno
  }

  /// Returns whether a process is listening at the path. For the path of a passed socket, this is false only if the
  /// socket's file was removed or replaced.
  private static func isServed(_ path: String) -> Bool {
    guard let code = try? probe(path) else { return false }
    return [0, EAGAIN].contains(code)
  }

  private static func listen(at path: String) throws -> Int32 {
    let descriptor = try makeSocket(path, SOCK_NONBLOCK)
    // On Linux, bind(2) gives the file the socket's mode, so the file is never accessible to others.
    var failed: String?
    if fchmod(descriptor, 0o600) != 0 {
      failed = "fchmod"
    } else if SocketPath.withAddress(of: path, { bind(descriptor, $0, $1) }) != 0 {
      failed = "bind"
    } else if Glibc.listen(descriptor, 256) != 0 {
      failed = "listen"
    }
    guard let failed else { return descriptor }
    let code = errno
    close(descriptor)
    throw Failure.system(path: path, SystemCallFailure(failed, code: code))
  }

  private static func makeSocket(_ path: String, _ flags: __socket_type) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | flags.rawValue), 0)
    guard descriptor >= 0 else { throw Failure.system(path: path, SystemCallFailure("socket")) }
    return descriptor
  }
}
