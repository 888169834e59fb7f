package import HearthCore

extension FileCredentialStore {
  package func needsPassphrase() async -> Bool { protection == .passphrase && passphraseKey == nil }

  @discardableResult
  package func unlock(passphrase: Secret) async throws(Failure) -> Bool {
    if let wait = wrongPassphrases.wait(at: clock.steadyNow()) { throw .tooManyPassphrases(account, wait) }
    let scan: CredentialScan
    do {
      scan = try await self.scan()
    } catch {
      throw Failure(error, account)
    }
    switch scan.file {
    case .failure(.corrupt(let text)):
      let why = AccessFailure(.storageError, detail: "\(scan.place.file) is unreadable: \(text)")
      throw Failure(why, account)
    case .failure(.tooNew):
      let why = AccessFailure(.storageError, detail: "\(scan.place.file) was written by a newer version of Hearth")
      throw Failure(why, account)
    case .success(nil):
      return try await setPassphrase(passphrase)
    case .success(let file?):
      guard case .sealed(let sealed, let kdf?) = file.body else {
        return try await setPassphrase(passphrase)
      }
      let key = try await key(from: passphrase, kdf)
      guard key.open(sealed, associated: file.header.associatedData(kdf: kdf)) != nil else {
        wrongPassphrases.add(at: clock.steadyNow())
        throw .wrongPassphrase(account)
      }
      keep(key, kdf)
      return true
    }
  }

  /// Derives the key that will seal the credential's next version. Returns false if the configuration uses no passphrase.
  private func setPassphrase(_ passphrase: Secret) async throws(Failure) -> Bool {
    guard protection == .passphrase else { return false }
    guard !passphrase.isEmpty else { throw .wrongPassphrase(account) }
    let kdf = ScryptParameters.fresh(n: scryptCost)
    keep(try await key(from: passphrase, kdf), kdf)
    return true
  }

  private func key(from passphrase: Secret, _ kdf: ScryptParameters) async throws(Failure) -> SealingKey {
    guard let key = await kdf.key(from: passphrase) else {
      throw Failure(AccessFailure(.keyUnavailable, detail: "not enough memory to derive the key"), account)
    }
    return key
  }

  private func keep(_ key: SealingKey, _ kdf: ScryptParameters) {
    passphraseKey?.key.wipe()
    passphraseKey = (key, kdf)
    wrongPassphrases = WrongPasswords()
  }
}
