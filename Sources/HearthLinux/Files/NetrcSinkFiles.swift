import Glibc
package import HearthCore

/// One account's lines in a netrc file. The file can also contain lines that belong to the user or to other accounts,
/// so each change locks the folder, rereads the file and replaces it with a rename.
package final class NetrcSinkFiles: SinkFiles {
  private let account: AccountName
  private let calls: BlockingCallQueue<SinkFailure>
  /// Maximum size of a netrc file, in bytes. Real files are far smaller.
  private static let sizeLimit = 1 << 20
  private static let attempts = 5

  package init(_ account: AccountName, limit: Duration = .seconds(5)) {
    self.account = account
    calls = BlockingCallQueue(limit: limit)
  }

  /// Returns a separate place for each account, because accounts can share the file.
  package func place(of path: String) async throws(SinkFailure) -> SinkPlace {
    try await calls.run { [account] in
      let file = try SinkFolder.place(of: path)
      return (file.device, file.folder, "\(file.name) \(account)")
    }
  }

  package func requireFree(for sink: SinkSettings) async throws(SinkFailure) {}

  /// Only checks the folder. Returns an empty mark, because the account's name in the file identifies its lines after a
  /// crash.
  package func begin(at sink: SinkSettings) async throws(SinkFailure) -> SinkMark {
    try await calls.run { try SinkFolder.requireTrust(of: sink.path) }
    return ""
  }

  /// Writes the account's lines. `bytes` contains the token.
  package func put(_ bytes: [UInt8], at sink: SinkSettings) async throws(SinkFailure) {
    let (token, netrc) = (Secret(String(decoding: bytes, as: UTF8.self)), sink.netrc)
    let entries = (netrc?.hosts ?? []).compactMap { host in
      netrc.flatMap { NetrcText.Entry(host: host, login: $0.login, password: token) }
    }
    guard entries.count == netrc?.hosts.count else {
      throw .failed("the token contains characters that some programs cannot read in a netrc file")
    }
    try await change(sink.path, to: entries)
  }

  package func remove(_ path: String, keepingFile: Bool) async throws(SinkFailure) {
    do {
      try await change(path, to: nil)
    } catch .folderMissing {
      // If the folder is gone, so is the file.
    }
  }

  /// Replaces the account's entries, or removes them if `entries` is `nil`.
  private func change(_ path: String, to entries: [NetrcText.Entry]?) async throws(SinkFailure) {
    try await calls.run { [self] in
      try SinkFolder.open(of: path) { folder, name in
        // Some file systems do not support locks, so a failure is ignored. Closing the descriptor releases the lock.
        flock(folder, LOCK_EX)
        for _ in 1...Self.attempts where try replace(name, in: folder, with: entries) { return }
        throw SinkFailure.failed("another program keeps changing it")
      }
    }
  }

  /// Returns false without changing the file if another program has changed it in the meantime.
  private func replace(_ name: String, in folder: Int32, with entries: [NetrcText.Entry]?) throws -> Bool {
    let before = try SinkFolder.status(of: name, in: folder)
    let old = try before.map { try Self.read(name, in: folder, $0) } ?? []
    let new: [UInt8]
    do {
      new = try entries.map { try NetrcText(old).with($0, of: account) } ?? NetrcText(old).without(account)
    } catch let fault as NetrcText.Fault {
      throw SinkFailure.netrc(fault)
    }
    let isPrivate = before.map { $0.st_mode & 0o7777 == 0o600 } ?? true
    guard new != old || !isPrivate && !new.isEmpty else { return true }
    let draft = ".\(name).hearth-new"
    _ = unlinkat(folder, draft, 0)
    defer { _ = unlinkat(folder, draft, 0) }
    if !new.isEmpty { try Self.write(new, to: draft, in: folder) }
    guard Self.isSame(before, try SinkFolder.status(of: name, in: folder)) else { return false }
    if new.isEmpty {
      try SinkFolder.check(unlinkat(folder, name, 0))
    } else {
      try SinkFolder.check(renameat(folder, draft, folder, name))
    }
    // Lines that Hearth did not write must survive a power loss, so the rename is synced to disk.
    fsync(folder)
    return true
  }

  private static func isSame(_ one: stat?, _ other: stat?) -> Bool {
    guard let one, let other else { return one == nil && other == nil }
    return one.st_ino == other.st_ino && one.st_size == other.st_size && one.st_mtim.tv_sec == other.st_mtim.tv_sec
      && one.st_mtim.tv_nsec == other.st_mtim.tv_nsec
  }

  private static func read(_ name: String, in folder: Int32, _ status: stat) throws -> [UInt8] {
    guard status.st_mode & S_IFMT == S_IFREG else { throw SinkFailure.notRegular }
    guard status.st_uid == geteuid() else { throw SinkFailure.occupied }
    guard status.st_size <= sizeLimit else { throw SinkFailure.failed("it is larger than 1 MiB") }
    let descriptor = try SinkFolder.check(openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC))
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: sizeLimit + 1)
    var count = 0
    while count < bytes.count {
      let more = bytes[count...].withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
      if more < 0, errno == EINTR { continue }
      guard more >= 0 else { throw SinkFailure(errno: errno) }
      if more == 0 { break }
      count += more
    }
    return Array(bytes[..<count])
  }

  private static func write(_ bytes: [UInt8], to name: String, in folder: Int32) throws {
    let descriptor = try SinkFolder.check(
      openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600))
    defer { close(descriptor) }
    // Sets the mode regardless of the umask.
    try SinkFolder.check(fchmod(descriptor, 0o600))
    try SinkFolder.write(bytes, to: descriptor)
    try SinkFolder.check(fsync(descriptor))
  }
}
