import Crypto
import FoundationEssentials
package import HearthCore
package import Logging

/// A folder with one file for each grant that is still to be revoked. Files have mode 0600 and contain sealed tokens.
///
/// The daemon's key is in the same folder and is removed with the last file. The seal hides the tokens from programs
/// that copy, index or show single files, but not from someone who has the whole folder. If an account is protected
/// with a key file, that file's key seals its grants instead.
package actor FileRevocationStore: RevocationStore {
  private static let sizeLimit = 1 << 20

  private let folder: String
  private let files: any FileSystem
  private let logger: Logger
  /// Locked for a whole call, because a write suspends between its steps.
  private let mutex = AsyncMutex()

  package init(folder: String, files: any FileSystem, logger: Logger) {
    self.folder = folder
    self.files = files
    self.logger = logger
  }

  private func path(of id: String) -> String { "\(folder)/\(id).json" }

  package func keep(_ pending: PendingRevocation) async throws {
    try await mutex.withLock {
      try await accessing(folder, await files.createFolders(folder))
      let header = RevocationFile.Header(pending)
      let grant = CredentialFile.bytes(of: pending.credential.grant)
      guard let sealed = try await key(header, isMade: true).seal(grant, associated: FileFormat.encode(header)) else {
        throw AccessFailure(.keyUnavailable, detail: "it cannot be sealed")
      }
      let bytes = FileFormat.encode(RevocationFile(header: header, sealed: Data(sealed)))
      let path = path(of: pending.id)
      try await accessing(path, await AtomicFile(path: path, files: files).replace(with: bytes))
    }
  }

  package func remove(_ pending: PendingRevocation) async {
    guard pending.keeping != .memory else { return }
    await mutex.withLock { await removeFile(path(of: pending.id)) }
  }

  package func recall(at now: Timestamp) async -> [PendingRevocation] {
    await mutex.withLock {
      var found: [PendingRevocation] = []
      for name in ((try? await files.names(in: folder)) ?? []).sorted() {
        if name.hasPrefix("."), name.hasSuffix(".new") { await removeFile("\(folder)/\(name)") }
        guard name.hasSuffix(".json"), !name.hasPrefix(".") else { continue }
        if let pending = await read(id: String(name.dropLast(".json".count)), at: now) { found.append(pending) }
      }
      return found
    }
  }

  private func read(id: String, at now: Timestamp) async -> PendingRevocation? {
    let path = path(of: id)
    do {
      let contents = try await files.read(path, limit: Self.sizeLimit, followsLink: false)
      guard let sealed = try? FileFormat.decode(RevocationFile.self, version: 1, from: contents.bytes),
        let expiresAt = Timestamp(rfc3339: sealed.header.expiresAt)
      else {
        // The expiry time is unreadable, so remove the file once it is older than any revocation can be.
        if contents.status.modified + PendingRevocation.longest <= now { await removeFile(path) }
        throw AccessFailure(.storageError, detail: "the file is unreadable")
      }
      return try sealed.pending(id: id, with: try await key(sealed.header, isMade: false), expiresAt: expiresAt)
    } catch {
      logger.warning("Cannot revoke the unused grant in \(path) now: \(AccessFailure(error, at: path).detail).")
      return nil
    }
  }

  /// Removes a file, and the key if this was the last file.
  private func removeFile(_ path: String) async {
    try? await files.removeFile(path)
    let rest = (try? await files.names(in: folder)) ?? [""]
    if rest.allSatisfy({ "\(folder)/\($0)" == keyPath }) { try? await files.removeFile(keyPath) }
    try? await files.syncFolder(folder)
  }

  // MARK: - Keys

  private var keyPath: String { folder + "/key" }

  /// Returns the key for a file. Creates the daemon's key if it is missing and `isMade` is true.
  private func key(_ header: RevocationFile.Header, isMade: Bool) async throws -> SealingKey {
    if let path = header.keyFile { return try await files.sealingKey(from: path) }
    if isMade, try await !accessing(keyPath, await files.exists(keyPath)) {
      let key = SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }
      try await accessing(keyPath, await AtomicFile(path: keyPath, files: files).replace(with: key))
    }
    return try await files.sealingKey(from: keyPath)
  }
}
