import Glibc

/// Makes sure that one daemon at a time uses a state folder: a lock on its file `lock`, until the process ends.
package final class InstanceLock: Sendable {
  private let descriptor: Int32

  private init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Acquires the lock, or throws an error that names the process that has it. The folder must exist; nothing else in it is touched.
  package static func acquire(inStateFolder folder: String) throws(InstanceLockFailure) -> InstanceLock {
    let path = "\(folder)/lock"
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .unusable(path: path, reason: SystemCallFailure("open")) }
    let lock = InstanceLock(descriptor: descriptor)
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      if errno == EINTR { continue }
      if errno == EWOULDBLOCK { throw .taken(folder: folder, holder: lock.holder()) }
      throw .unusable(path: path, reason: SystemCallFailure("flock"))
    }
    lock.write(holder: getpid())
    return lock
  }

  /// The process that has written its id into the lock file.
  private func holder() -> Int32? {
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    return Int32(String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).prefix { $0.isNumber })
  }

  /// Only for the message to people; the lock works without it, so that a full disk does not matter.
  private func write(holder: Int32) {
    let text = Array("\(holder)\n".utf8)
    ftruncate(descriptor, 0)
    _ = pwrite(descriptor, text, text.count, 0)
  }
}

/// Why there is no lock, as a sentence for people.
package enum InstanceLockFailure: Error, Hashable, CustomStringConvertible {
  case taken(folder: String, holder: Int32?)
  case unusable(path: String, reason: SystemCallFailure)

  package var description: String {
    switch self {
    case .taken(let folder, let holder):
      let process = holder.map { " (process \($0))" } ?? ""
      return "Another hearthd\(process) is running on the state folder \(folder)."
    case .unusable(let path, let reason):
      return "The lock file \(path) cannot be used (\(reason))."
    }
  }
}
