package import HearthCore

/// The store of an account's credential, and what others do to the disk below it.
package struct CredentialStoreBench: Sendable {
  /// The store as a new process finds it. Each call stands for another process on the same disk, after the previous one
  /// has ended.
  package var store: @Sendable () -> any CredentialStore
  /// A different credential for each number, with fingerprints as the store computes them.
  package var credential: @Sendable (Int) -> Credential
  /// Removes the credential's folder, like an unmount, or restores it.
  package var setAway: @Sendable (Bool) -> Void
  /// Fills the disk, or frees it.
  package var setFull: @Sendable (Bool) -> Void
  /// Changes the file like another program.
  package var delete: @Sendable () -> Void
  package var spoil: @Sendable () -> Void
  package var replace: @Sendable (_ credential: Int) -> Void
  /// Lets the time pass until another passphrase may be tried.
  package var rest: @Sendable () -> Void
  /// Sets the clock by this step, in the same boot.
  package var setClock: @Sendable (Duration) -> Void
  /// Reboots the machine, before the next process starts.
  package var reboot: @Sendable () -> Void

  package init(
    store: @escaping @Sendable () -> any CredentialStore, credential: @escaping @Sendable (Int) -> Credential,
    setAway: @escaping @Sendable (Bool) -> Void, setFull: @escaping @Sendable (Bool) -> Void,
    delete: @escaping @Sendable () -> Void, spoil: @escaping @Sendable () -> Void,
    replace: @escaping @Sendable (_ credential: Int) -> Void, rest: @escaping @Sendable () -> Void = {},
    setClock: @escaping @Sendable (Duration) -> Void, reboot: @escaping @Sendable () -> Void
  ) {
    self.store = store
    self.credential = credential
    (self.setAway, self.setFull) = (setAway, setFull)
    (self.delete, self.spoil, self.replace) = (delete, spoil, replace)
    (self.rest, self.setClock, self.reboot) = (rest, setClock, reboot)
  }

  /// A store that contains this credential.
  fileprivate func store(holding number: Int) async throws -> any CredentialStore {
    let store = store()
    try await store.write(credential(number))
    return store
  }

  fileprivate func end(_ reason: EndReason, of number: Int) -> EndRecord {
    EndRecord(reason: reason, at: .sample, fingerprint: fingerprint(number))
  }

  fileprivate func fingerprint(_ number: Int) -> Fingerprint { credential(number).grant.accessToken.fingerprint }
}

/// The promises of `CredentialStore`.
package enum CredentialStoreContract {
  package typealias CredentialFact = Fact<CredentialStoreBench>

  /// The promises for an account with an unsealed credential.
  package static let facts =
    writing + clock + files + putBack + ends + signOut + [
      CredentialFact("an account without a passphrase needs none, and takes none") { bench in
        let store = try await bench.store(holding: 1)
        try expect(await store.needsPassphrase(), is: false)
        try expect(try await store.unlock(passphrase: Secret("sesame")), is: false)
        await store.lock()
        try expect(await store.read(), is: .found(bench.credential(1)))
      }
    ]

  /// The promises for an account that is protected by a passphrase, which is not set yet.
  package static let sealedFacts: [CredentialFact] = [
    CredentialFact("nothing can be sealed before a passphrase is set") { bench in
      let store = bench.store()
      try expect(await store.needsPassphrase(), is: true)
      try await expectFailure(.passphraseRequired) { try await store.prepare() }
      try await expectFailure(.passphraseRequired) {
        try await store.write(bench.credential(1))
      }
      try await store.unlock(passphrase: Secret("sesame"))
      try expect(await store.needsPassphrase(), is: false)
      try await store.write(bench.credential(1))
      try expect(await store.read(), is: .found(bench.credential(1)))
    },
    CredentialFact("a lock forgets the key, and only the passphrase that sealed the credential opens it") { bench in
      let before = bench.store()
      try await before.unlock(passphrase: Secret("sesame"))
      try await before.write(bench.credential(1))
      await before.lock()
      for store in [before, bench.store()] {
        try expect(await store.needsPassphrase(), is: true)
        try expectUnreadable(await store.read(), .passphraseRequired)
        try await expectFailure(.passphraseRequired) { try await store.prepare() }
        try await expect(throws: Failure.wrongPassphrase(.sample)) {
          try await store.unlock(passphrase: Secret("open"))
        }
        try expect(await store.needsPassphrase(), is: true)
        bench.rest()
        try await store.unlock(passphrase: Secret("sesame"))
        try expect(await store.read(), is: .found(bench.credential(1)))
        await store.lock()
      }
    },
  ]

  private static let writing: [CredentialFact] = [
    CredentialFact("nothing is remembered of a new account, and nobody has signed in") { bench in
      try expect(try await bench.store().remembered(), is: RememberedAccount())
      try expect(await bench.store().read(), is: .neverSignedIn)
    },
    CredentialFact("what is written is read again, also by the next process, and its subject is remembered") { bench in
      for store in [try await bench.store(holding: 1), bench.store()] {
        try expect(await store.read(), is: .found(bench.credential(1)))
        try expect(try await store.remembered().subject, is: bench.credential(1).subject)
      }
    },
    CredentialFact("the next process remembers which token is barred, and which one an API rejected") { bench in
      let token = bench.credential(1).grant.accessToken.fingerprint
      for note in [TokenNote.barred(token), .rejected(token)] { try await bench.store(holding: 1).remember(note) }
      _ = await bench.store().read()
      try expect(try await bench.store().remembered().barred, is: token)
      try expect(try await bench.store().remembered().rejected, is: token)
    },
    CredentialFact("a later write replaces what was there") { bench in
      let store = try await bench.store(holding: 1)
      try await store.write(bench.credential(2))
      try expect(await bench.store().read(), is: .found(bench.credential(2)))
    },
    CredentialFact("preparing changes nothing that is read, and a write can follow it") { bench in
      let store = try await bench.store(holding: 1)
      try await store.prepare()
      try expect(await store.read(), is: .found(bench.credential(1)))
      try await store.prepare()
      try await store.write(bench.credential(2))
      try expect(await store.read(), is: .found(bench.credential(2)))
    },
    CredentialFact("a grant that came from another version than the stored one is not written or refreshed") { bench in
      let store = try await bench.store(holding: 1)
      bench.replace(2)
      for version in [StoredVersion.grant(GrantMarks(bench.credential(1).grant)), .grant(nil)] {
        try expect(try await store.prepare(over: version), is: .superseded)
        try expect(try await store.write(bench.credential(3), over: version), is: .superseded)
      }
      try expect(await store.read(), is: .found(bench.credential(2)))
      let version = StoredVersion.grant(GrantMarks(bench.credential(2).grant))
      try expect(try await store.prepare(over: version), is: .given)
      try expect(try await store.write(bench.credential(3), over: version), is: .given)
      // The same again, if it is unknown whether it was written.
      try expect(try await store.write(bench.credential(3), over: version), is: .given)
      try expect(await store.read(), is: .found(bench.credential(3)))
    },
    CredentialFact("a missing, damaged, ended or signed-out credential is not another version") { bench in
      let store = try await bench.store(holding: 1)
      let version = StoredVersion.grant(GrantMarks(bench.credential(1).grant))
      bench.spoil()
      try expect(try await store.write(bench.credential(2), over: version), is: .given)
      try await store.writeEnd(bench.end(.rejectedByServer, of: 2))
      try expect(try await store.write(bench.credential(3), over: version), is: .given)
      try await store.remove(bench.end(.signedOut, of: 3), fingerprint: bench.fingerprint(3))
      try expect(try await store.write(bench.credential(4), over: .grant(nil)), is: .given)
      try expect(await store.read(), is: .found(bench.credential(4)))
    },
    CredentialFact("a lack of room is reported beforehand, and the old credential stays") { bench in
      let store = try await bench.store(holding: 1)
      bench.setFull(true)
      try await expectFailure(.storageError) { try await store.prepare() }
      try await expectFailure(.storageError) { try await store.write(bench.credential(2)) }
      try await expectFailure(.storageError) { try await store.remember(lockedByUser: true) }
      try expect(await store.read(), is: .found(bench.credential(1)))
      try expect(try await store.remembered().lockedByUser, is: false)
      bench.setFull(false)
      try await store.write(bench.credential(2))
      try expect(await store.read(), is: .found(bench.credential(2)))
    },
    CredentialFact("the user's own lock is remembered until it is removed, whatever is written meanwhile") { bench in
      let store = try await bench.store(holding: 1)
      try await store.remember(lockedByUser: true)
      try await store.write(bench.credential(2))
      try await store.writeEnd(bench.end(.rejectedByServer, of: 2))
      for store in [store, bench.store()] { try expect(try await store.remembered().lockedByUser, is: true) }
      try await store.remember(lockedByUser: false)
      try expect(try await bench.store().remembered().lockedByUser, is: false)
    },
  ]

  private static let files: [CredentialFact] = [
    CredentialFact("a credential that cannot be read is never replaced") { bench in
      let store = try await bench.store(holding: 1)
      bench.setAway(true)
      try expectUnreadable(await store.read(), .volumeUnavailable)
      try await expectFailure(.volumeUnavailable) { try await store.prepare() }
      try await expectFailure(.volumeUnavailable) {
        try await store.write(bench.credential(2))
      }
      bench.setAway(false)
      try expect(await store.read(), is: .found(bench.credential(1)))
    },
    CredentialFact("a credential that is gone from a readable place is missing, until one is written") {
      bench in
      let store = try await bench.store(holding: 1)
      bench.delete()
      for store in [store, bench.store()] {
        guard case .missing = await store.read() else { try expect(false, "it is missing"); continue }
      }
      try await store.write(bench.credential(2))
      try expect(await store.read(), is: .found(bench.credential(2)))
    },
    CredentialFact("an unreadable file is corrupt until it is set aside, and then has another name") {
      bench in
      let store = try await bench.store(holding: 1)
      bench.spoil()
      guard case .corrupt = await store.read() else { return try expect(false, "it is corrupt") }
      try expect(try await !store.setAside().isEmpty, "it is said where it lies")
      if case .corrupt = await store.read() { try expect(false, "it is set aside") }
      try await store.write(bench.credential(2))
      try expect(await store.read(), is: .found(bench.credential(2)))
    },
    CredentialFact("a grant from another program is found") { bench in
      let store = try await bench.store(holding: 1)
      bench.replace(2)
      try expect(await store.read(), is: .found(bench.credential(2)))
    },
  ]

  private static let putBack: [CredentialFact] = [
    CredentialFact("a replaced grant is a former one wherever it is put back, and no other grant is") {
      bench in
      let store = try await bench.store(holding: 1)
      try await store.write(bench.credential(2))
      try await store.write(bench.credential(3))
      let version = StoredVersion.grant(GrantMarks(bench.credential(3).grant))
      for number in [1, 2, 1] {
        bench.replace(number)
        for store in [store, bench.store()] {
          try expect(await store.read(), is: .found(bench.credential(number), .former))
          try expect(try await store.prepare(over: version), is: .given)
        }
      }
      try expect(try await bench.store().write(bench.credential(4), over: version), is: .given)
      bench.replace(3)
      try expect(await bench.store().read(), is: .found(bench.credential(3), .former))
    },
    CredentialFact("so is the grant before another program's, but not that one or one that is written again") {
      bench in
      let store = try await bench.store(holding: 1)
      bench.replace(2)
      try expect(await store.read(), is: .found(bench.credential(2)))
      bench.replace(1)
      try expect(await store.read(), is: .found(bench.credential(1), .former))
      bench.replace(2)
      try expect(await bench.store().read(), is: .found(bench.credential(2)))
      try await store.write(bench.credential(1))
      try expect(await bench.store().read(), is: .found(bench.credential(1)))
    },
    CredentialFact("an end replaces a former grant, because what has ended is newer") { bench in
      let (store, end) = (try await bench.store(holding: 1), bench.end(.refreshTokenRejected, of: 2))
      try await store.write(bench.credential(2))
      bench.replace(1)
      try await store.writeEnd(end)
      try expect(await bench.store().read(), is: .ended(end))
    },
    CredentialFact("a grant that was signed out is not found when it is put back, nor are earlier ones") { bench in
      let (store, end) = (try await bench.store(holding: 1), bench.end(.signedOut, of: 2))
      try await store.write(bench.credential(2))
      try await store.remove(end, fingerprint: bench.fingerprint(2))
      for number in [1, 2] {
        bench.replace(number)
        for store in [store, bench.store()] { try expect(await store.read(), is: .ended(end)) }
      }
      try await store.write(bench.credential(3))
      for number in [1, 2] {
        bench.replace(number)
        guard case .ended = await bench.store().read() else { try expect(false, "\(number) is found"); continue }
        let version = StoredVersion.grant(GrantMarks(bench.credential(3).grant))
        try expect(try await store.prepare(over: version), is: .given)
      }
      try await store.write(bench.credential(1))
      try expect(await bench.store().read(), is: .found(bench.credential(1)))
    },
    CredentialFact("an earlier grant is not found when its place is back after the sign-out, and is removed") { bench in
      let (store, end) = (try await bench.store(holding: 1), bench.end(.signedOut, of: 2))
      try await store.write(bench.credential(2))
      bench.setAway(true)
      try await expectEnd(isNowhere: false) {
        try await store.remove(end, fingerprint: bench.fingerprint(2))
      }
      bench.setAway(false)
      bench.replace(1)
      let next = bench.store()
      let removed = RemovedCredentials(current: bench.credential(1))
      try expect(await next.read(), is: .ended(end, removed: removed))
      try expect(await next.read(), is: .ended(end))
    },
    CredentialFact("a token that the provider has refused is not found again, whatever sign-ins came since") { bench in
      let (store, end) = (try await bench.store(holding: 1), bench.end(.refreshTokenRejected, of: 1))
      try await store.writeEnd(end)
      try await store.write(bench.credential(2))
      bench.replace(1)
      guard case .ended = await bench.store().read() else { return try expect(false, "it is found") }
    },
  ]

  private static let ends: [CredentialFact] = [
    CredentialFact("the end of a session replaces its grant, until another one is written") { bench in
      let (store, end) = (try await bench.store(holding: 1), bench.end(.refreshTokenRejected, of: 1))
      try await store.writeEnd(end)
      for store in [store, bench.store()] {
        try expect(await store.read(), is: .ended(end))
        try expect(try await store.remembered().end, is: end)
      }
      try await store.write(bench.credential(2))
      try expect(await store.read(), is: .found(bench.credential(2)))
      try expect(try await store.remembered().end, is: nil)
    },
    CredentialFact("an end that does not reach the file is recorded, and a later read completes it") { bench in
      let (store, end) = (try await bench.store(holding: 1), bench.end(.refreshTokenRejected, of: 1))
      bench.setAway(true)
      try await expectEnd(isNowhere: false) { try await store.writeEnd(end) }
      for store in [store, bench.store()] { try expect(try await store.remembered().end, is: end) }
      bench.setAway(false)
      let next = bench.store()
      for _ in 1...2 { try expect(await next.read(), is: .ended(end)) }
    },
    CredentialFact("an end for which there is no room is recorded nowhere") { bench in
      let (store, end) = (try await bench.store(holding: 1), bench.end(.refreshTokenRejected, of: 1))
      bench.setFull(true)
      try await expectEnd(isNowhere: true) { try await store.writeEnd(end) }
      bench.setFull(false)
      try expect(try await store.remembered().end, is: nil)
      try expect(await store.read(), is: .found(bench.credential(1)))
    },
  ]

  private static let signOut: [CredentialFact] = [
    CredentialFact("a sign-out removes the credential, returns it for revocation, and forgets its subject") { bench in
      let (store, end) = (try await bench.store(holding: 1), bench.end(.signedOut, of: 1))
      let removed = try await store.remove(end, fingerprint: bench.fingerprint(1))
      try expect(removed, is: RemovedCredentials(current: bench.credential(1)))
      for store in [store, bench.store()] {
        try expect(await store.read(), is: .ended(end))
        try expect(try await store.remembered(), is: RememberedAccount(end: end))
      }
    },
    CredentialFact("a later read completes a sign-out that did not reach the file") { bench in
      let (store, end) = (try await bench.store(holding: 1), bench.end(.signedOut, of: 1))
      bench.setAway(true)
      try await expectEnd(isNowhere: false) {
        try await store.remove(end, fingerprint: bench.fingerprint(1))
      }
      bench.setAway(false)
      let next = bench.store()
      let removed = RemovedCredentials(current: bench.credential(1))
      try expect(await next.read(), is: .ended(end, removed: removed))
      try expect(await next.read(), is: .ended(end))
    },
    CredentialFact("a different grant that is found then is not the one that was signed out") { bench in
      let (store, end) = (try await bench.store(holding: 1), bench.end(.signedOut, of: 1))
      bench.setAway(true)
      try await expectEnd(isNowhere: false) {
        try await store.remove(end, fingerprint: bench.fingerprint(1))
      }
      bench.setAway(false)
      bench.replace(2)
      let next = bench.store()
      try expect(await next.read(), is: .found(bench.credential(2)))
      try expect(try await next.remembered().end, is: nil)
    },
  ]

  private static func expectUnreadable(
    _ reading: CredentialReading, _ kind: AccessFailure.Kind, line: Int = #line
  ) throws {
    guard case .unreadable(let failure) = reading, failure.kind == kind else {
      throw ContractBreach("\(reading) was read, it is unreadable: \(kind).", #fileID, line)
    }
  }

  private static func expectFailure(
    _ kind: AccessFailure.Kind, line: Int = #line, _ body: () async throws -> Void
  ) async throws {
    do {
      try await body()
    } catch {
      return try expect((error as? AccessFailure)?.kind, is: kind, line: line)
    }
    throw ContractBreach("It was done, though \(kind).", #fileID, line)
  }

  private static func expectEnd(
    isNowhere: Bool, line: Int = #line, _ body: () async throws -> Any
  ) async throws {
    do {
      _ = try await body()
    } catch let error as EndNotWritten {
      if case .nowhere = error { return try expect(isNowhere, "\(error) is on record in one place", line: line) }
      return try expect(!isNowhere, "\(error) is on record nowhere", line: line)
    }
    throw ContractBreach("The end was written down, though it could not be.", #fileID, line)
  }
}
