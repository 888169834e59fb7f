import Glibc
package import HearthCore
import HearthThreads
package import Logging
import Synchronization

/// Ensures that only one daemon uses a state folder, by locking the folder's `lock` file until the process ends.
package final class InstanceLock: Sendable {
  private let folder: String
  private let descriptor: Mutex<Int32>

  private init(_ folder: String, descriptor: Int32) {
    self.folder = folder
    self.descriptor = Mutex(descriptor)
  }

  deinit { close(descriptor.withLock(\.self)) }

  /// Acquires the lock, or throws `taken` if another process holds it. The folder must exist. Does not touch any other
  /// file in the folder.
  package static func acquire(inStateFolder folder: String) throws -> InstanceLock {
    try InstanceLock(folder, descriptor: lock(folder))
  }

  private static func path(in folder: String) -> String { "\(folder)/lock" }

  private static func lock(_ folder: String) throws(InstanceLockFailure) -> Int32 {
    let path = path(in: folder)
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .unusable(path: path, reason: SystemCallFailure("open")) }
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      if code == EINTR { continue }
      defer { close(descriptor) }
      if code == EWOULDBLOCK { throw .taken(folder: folder, holder: holder(descriptor)) }
      throw .unusable(path: path, reason: SystemCallFailure("flock", code: code))
    }
    write(holder: getpid(), descriptor)
    return descriptor
  }

  /// Locks the file again whenever it is removed or replaced. Throws `taken` if another process has locked the new file
  /// and does not release it. Returns when the task is cancelled.
  package func keep(_ watch: any FileWatch, clock: any Clock, logger: Logger) async throws {
    let path = Self.path(in: folder)
    for await _ in watch.hints(for: [path]) {
      var last: InstanceLockFailure?
      while !Task.isCancelled {
        switch await WorkerThread.run({ self.renew() }) {
        case .success(let isNew):
          if isNew { logger.warning("The lock file \(path) was removed, so Hearth created it again.") }
        // Another daemon may hold the lock for a moment, until it finds the socket in use and exits, so only a second
        // failure with the same holder counts.
        case .failure(.taken(let folder, let holder)) where last == .taken(folder: folder, holder: holder):
          throw InstanceLockFailure.taken(folder: folder, holder: holder)
        case .failure(let failure):
          if last == nil { logger.warning("The lock file \(path) was removed. \(failure)") }
          last = failure
          await clock.sleep(until: clock.now() + .seconds(10))
          continue
        }
        break
      }
    }
  }

  /// Locks the file again if it was removed or replaced. Returns whether this was necessary.
  private func renew() -> Result<Bool, InstanceLockFailure> {
    descriptor.withLock { descriptor in
      var (held, found) = (stat(), stat())
      if fstat(descriptor, &held) == 0, stat(Self.path(in: folder), &found) == 0, held.st_ino == found.st_ino,
        held.st_dev == found.st_dev
      {
        return .success(false)
      }
      return Result { () throws(InstanceLockFailure) in try Self.lock(folder) }.map { new in
        close(descriptor)
        descriptor = new
        return true
      }
    }
  }

  /// Reads the process ID from the lock file.
  private static func holder(_ descriptor: Int32) -> Int32? {
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    return Int32(String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).prefix { $0.isNumber })
  }

  /// Writes the process ID for use in messages. The lock works without it, so a full disk does no harm.
  private static func write(holder: Int32, _ descriptor: Int32) {
    let text = Array("\(holder)\n".utf8)
    ftruncate(descriptor, 0)
    _ = pwrite(descriptor, text, text.count, 0)
  }
}

/// Why the lock could not be acquired, as a human-readable sentence.
package enum InstanceLockFailure: Error, Hashable, CustomStringConvertible {
  case taken(folder: String, holder: Int32?)
  case unusable(path: String, reason: SystemCallFailure)

  package var description: String {
    switch self {
    case .taken(let folder, let holder):
      let process = holder.map { " (process \($0))" } ?? ""
      return "Another hearthd\(process) is using the state folder \(folder)."
    case .unusable(let path, let reason):
      return "Cannot use the lock file \(path) (\(reason))."
    }
  }
}
