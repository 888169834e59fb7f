package import HearthCore

extension FileCredentialStore {
  package func needsPassphrase() async -> Bool { protection == .passphrase && passphraseKey == nil }

  package func unlock(passphrase: Secret) async throws(UnlockFailure) {
    if let wait = wrongPassphrases.wait(at: clock.steadyNow()) { throw .tooSoon(wait) }
    let scan: CredentialScan
    do {
      scan = try await self.scan()
    } catch {
      throw .unavailable(error)
    }
    switch scan.outcome {
    case .corrupt(let text):
      throw .unavailable(AccessFailure(.storageError, detail: "\(scan.place.file) is unreadable: \(text)"))
    case .tooNew:
      throw .unavailable(
        AccessFailure(.storageError, detail: "\(scan.place.file) was written by a newer version of Hearth"))
    case .nothing:
      try await setPassphrase(passphrase)
    case .file(let file):
      guard case .sealed(let sealed) = file.body, let kdf = sealed.kdf else {
        return try await setPassphrase(passphrase)
      }
      let key = try await key(from: passphrase, kdf)
      guard Seal.open(sealed.bytes, with: key, associated: file.header.associatedData(kdf: kdf)) != nil else {
        wrongPassphrases.add(at: clock.steadyNow())
        throw .wrongPassphrase
      }
      keep(key, kdf)
    }
  }

  /// Derives the key that will seal the credential's next version.
  private func setPassphrase(_ passphrase: Secret) async throws(UnlockFailure) {
    guard protection == .passphrase else { throw .notSealed }
    guard !passphrase.isEmpty else { throw .wrongPassphrase }
    let kdf = ScryptParameters.fresh(n: scryptCost)
    keep(try await key(from: passphrase, kdf), kdf)
  }

  private func key(from passphrase: Secret, _ kdf: ScryptParameters) async throws(UnlockFailure) -> SealingKey {
    guard let key = await kdf.key(from: passphrase) else {
      throw .unavailable(AccessFailure(.keyUnavailable, detail: "not enough memory to derive the key"))
    }
    return key
  }

  private func keep(_ key: SealingKey, _ kdf: ScryptParameters) {
    passphraseKey?.key.wipe()
    passphraseKey = PassphraseKey(kdf: kdf, key: key)
    wrongPassphrases = WrongPasswords()
  }
}
