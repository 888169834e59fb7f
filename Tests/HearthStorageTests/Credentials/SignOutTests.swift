import HearthCore
import HearthStorage
import TestSupport
import Testing

@Suite("Sign-out")
struct SignOutTests {
  let bench = Bench()

  private var fingerprint: Fingerprint { bench.grant(1).accessToken.fingerprint }

  private func isReadable(_ reading: CredentialReading) -> Bool {
    if case .unreadable = reading { false } else { true }
  }

  @Test("The file, its marker and files set aside are removed, and the end is remembered; a second time does the same")
  func removed() async throws {
    let store = bench.store()
    try await store.write(bench.credential(1))
    bench.files.put("{", at: bench.defaultPath)
    _ = try await store.setAside()
    try await store.write(bench.credential(1))
    try await store.prepare()
    for held in [bench.credential(1), nil] {
      let removed = try await store.remove(bench.end(.signedOut), fingerprint: fingerprint)
      #expect(removed == RemovedCredentials(current: held), "so it can be revoked")
      #expect(bench.files.fileNames == [bench.accountsPath])
      #expect(await bench.store().read().end == bench.end(.signedOut))
      #expect(try await bench.store().remembered() == RememberedAccount(end: bench.end(.signedOut)))
    }
  }

  @Test("It works if nobody ever signed in")
  func neverSignedIn() async throws {
    try await bench.store().remove(bench.end(.signedOut), fingerprint: nil)
    #expect(await bench.store().read().end == bench.end(.signedOut))
    try await bench.store().write(bench.credential(1))
    #expect(await bench.store().read() == .found(bench.credential(1)))
  }

  @Test("It works with an ended, a corrupt and a newer version's file", arguments: ["ended", "{", #"{"version":2}"#])
  func whateverIsThere(text: String) async throws {
    let store = bench.store()
    try await store.write(bench.credential(1))
    if text == "ended" {
      try await store.writeEnd(bench.end(.rejectedByServer))
    } else {
      bench.files.put(text, at: bench.defaultPath)
    }
    try await store.remove(bench.end(.signedOut), fingerprint: nil)
    #expect(await store.read().end == bench.end(.signedOut))
    #expect(bench.files.text(at: bench.defaultPath) == nil)
  }

  @Test("It works under a passphrase that was not entered")
  func sealed() async throws {
    let store = bench.store(protection: .passphrase)
    try await store.unlock(passphrase: Secret("open"))
    try await store.write(bench.credential(1))
    let locked = bench.store(protection: .passphrase)
    #expect(try await locked.remove(bench.end(.signedOut), fingerprint: nil) == RemovedCredentials())
    #expect(bench.files.text(at: bench.defaultPath) == nil)
    #expect(await bench.store(protection: .passphrase).read().end == bench.end(.signedOut))
  }

  @Test("While the volume is away it is recorded, and carried out when it is back", arguments: [true, false])
  func away(isFingerprintKnown: Bool) async throws {
    try await bench.store(at: bench.configuredPath).write(bench.credential(1))
    bench.files.unmount(Bench.secure)
    await #expect(throws: EndNotWritten.self, "done is said only of what is done") {
      try await bench.store(at: bench.configuredPath)
        .remove(bench.end(.signedOut), fingerprint: isFingerprintKnown ? fingerprint : nil)
    }
    let store = bench.store(at: bench.configuredPath)
    #expect(try await store.remembered().end == bench.end(.signedOut))
    #expect(await !isReadable(store.read()))
    bench.files.mountAll()
    #expect(await store.read().end == bench.end(.signedOut))
    #expect(bench.files.fileNames == [bench.accountsPath])
  }

  @Test("While the folder cannot be entered it is recorded, and carried out when it can be")
  func permissionDenied() async throws {
    try await bench.store().write(bench.credential(1))
    bench.files.failAll(under: Bench.state + "/credentials", with: .permissionDenied)
    let store = bench.store()
    await #expect(throws: EndNotWritten.self) {
      try await store.remove(bench.end(.signedOut), fingerprint: fingerprint)
    }
    #expect(await !isReadable(store.read()))
    bench.files.failAll(under: Bench.state + "/credentials", with: nil)
    #expect(await store.read().end == bench.end(.signedOut))
    #expect(bench.files.fileNames == [bench.accountsPath])
  }

  @Test("A new sign-in is stored even if the signed-out grant could not be removed")
  func signsInAgain() async throws {
    try await bench.store(at: bench.configuredPath).write(bench.credential(1))
    bench.files.delete(bench.configuredPath)
    bench.files.delete(bench.configuredMarker)
    let store = bench.store(at: bench.configuredPath)
    await #expect(throws: AccessFailure.self, "before the sign-out nothing is put there") { try await store.prepare() }
    await #expect(throws: EndNotWritten.self) {
      try await store.remove(bench.end(.signedOut), fingerprint: fingerprint)
    }
    try await store.prepare()
    try await store.write(bench.credential(2))
    #expect(await bench.store(at: bench.configuredPath).read() == .found(bench.credential(2)))
    #expect(try await bench.store(at: bench.configuredPath).remembered().end == nil)
  }

  @Test("A grant that was signed out while away is not used when it comes back over a newer sign-in")
  func comesBackOverTheNext() async throws {
    try await bench.store(at: bench.configuredPath).write(bench.credential(1))
    let old = try #require(bench.files.text(at: bench.configuredPath))
    bench.files.delete(bench.configuredPath)
    bench.files.delete(bench.configuredMarker)
    let store = bench.store(at: bench.configuredPath)
    await #expect(throws: EndNotWritten.self) {
      try await store.remove(bench.end(.signedOut), fingerprint: fingerprint)
    }
    try await store.write(bench.credential(2))
    #expect(await store.read() == .found(bench.credential(2)))
    bench.files.put(old, at: bench.configuredPath)
    for store in [store, bench.store(at: bench.configuredPath)] {
      guard case .ended(let record, _) = await store.read() else {
        Issue.record("it is used")
        continue
      }
      #expect(record.reason == .credentialMissing, "nobody has signed the newer one out")
    }
    try await store.write(bench.credential(3))
    #expect(await store.read() == .found(bench.credential(3)))
  }

  @Test("A sealed file that was out of reach is removed without its passphrase")
  func sealedAndAway() async throws {
    let store = bench.store(at: bench.configuredPath, protection: .passphrase)
    try await store.unlock(passphrase: Secret("open"))
    try await store.write(bench.credential(1))
    bench.files.unmount(Bench.secure)
    let later = bench.store(at: bench.configuredPath, protection: .passphrase)
    await #expect(throws: EndNotWritten.self) {
      try await later.remove(bench.end(.signedOut), fingerprint: nil)
    }
    bench.files.mountAll()
    #expect(await later.read().end == bench.end(.signedOut))
    #expect(bench.files.fileNames == [bench.accountsPath])
  }

  @Test("A different grant found when the file is back is adopted")
  func different() async throws {
    try await bench.store(at: bench.configuredPath).write(bench.credential(1))
    bench.files.unmount(Bench.secure)
    let store = bench.store(at: bench.configuredPath)
    await #expect(throws: EndNotWritten.self) {
      try await store.remove(bench.end(.signedOut), fingerprint: fingerprint)
    }
    bench.files.mountAll()
    bench.files.put(bench.text(2), at: bench.configuredPath)
    #expect(await store.read() == .found(bench.credential(2)))
    #expect(try await bench.store(at: bench.configuredPath).remembered().end == nil)
    #expect(await bench.store(at: bench.configuredPath).read() == .found(bench.credential(2)))
  }

  @Test("The stored grant is removed, too, if the signed-out one was newer and never stored")
  func pendingWrite() async throws {
    try await bench.store(at: bench.configuredPath).write(bench.credential(1))
    bench.files.unmount(Bench.secure)
    let store = bench.store(at: bench.configuredPath)
    await #expect(throws: EndNotWritten.self) {
      try await store.remove(bench.end(.signedOut), fingerprint: bench.grant(2).accessToken.fingerprint)
    }
    bench.files.mountAll()
    #expect(await store.read().end == bench.end(.signedOut))
    #expect(bench.files.text(at: bench.configuredPath) == nil)
  }

  @Test("Nothing is remembered after it: a sign-in elsewhere is a first one")
  func forgotten() async throws {
    try await bench.store().write(bench.credential(1))
    try await bench.store().remove(bench.end(.signedOut), fingerprint: fingerprint)
    let store = bench.store(at: bench.configuredPath)
    #expect(await store.read().end == bench.end(.signedOut))
    try await store.write(bench.credential(2))
    #expect(await store.read() == .found(bench.credential(2)))
  }

  private func failure(of store: FileCredentialStore) async -> EndNotWritten? {
    do throws(EndNotWritten) {
      try await store.remove(bench.end(.signedOut), fingerprint: nil)
      return nil
    } catch {
      return error
    }
  }

  @Test("A full disk does not prevent it: the file is gone, even if that could not be recorded")
  func fullDisk() async throws {
    try await bench.store().write(bench.credential(1))
    bench.files.fail(.createFile, at: Bench.state + "/.accounts.json.new", with: .noSpace)
    let removed = try await bench.store().remove(bench.end(.signedOut), fingerprint: nil)
    #expect(removed.unrecorded != nil && removed.current == bench.credential(1), "so it can be revoked all the same")
    #expect(bench.files.text(at: bench.defaultPath) == nil)
    if case .found = await bench.store().read() { Issue.record("it is there again") }
  }

  @Test("A sign-out that could be neither recorded nor carried out is reported as such, and can be done later")
  func notNoted() async throws {
    try await bench.store(at: bench.configuredPath).write(bench.credential(1))
    bench.files.unmount(Bench.secure)
    bench.files.fail(.createFile, at: Bench.state + "/.accounts.json.new", with: .noSpace)
    let store = bench.store(at: bench.configuredPath)
    guard case .nowhere = await failure(of: store) else {
      Issue.record("it is told as done")
      return
    }
    bench.files.fail(.createFile, at: Bench.state + "/.accounts.json.new", with: nil)
    guard case .partly = await failure(of: store) else {
      Issue.record("it is not noted")
      return
    }
    bench.files.mountAll()
    #expect(await failure(of: store) == nil)
    #expect(await bench.store(at: bench.configuredPath).read().end == bench.end(.signedOut))
  }

  @Test("What is out of reach at the sign-out is reported when it is removed, unless it must not be revoked")
  func toldLater() async throws {
    for revokes in [true, false] {
      let bench = Bench()
      try await bench.store(at: bench.configuredPath).write(bench.credential(1))
      bench.files.unmount(Bench.secure)
      await #expect(throws: EndNotWritten.self) {
        try await bench.store(at: bench.configuredPath).remove(
          bench.end(.signedOut), fingerprint: fingerprint, revokes: revokes)
      }
      bench.files.mountAll()
      let removed = RemovedCredentials(current: revokes ? bench.credential(1) : nil)
      let store = bench.store(at: bench.configuredPath)
      #expect(await store.read() == .ended(bench.end(.signedOut), removed: removed))
      #expect(await store.read() == .ended(bench.end(.signedOut)), "once")
    }
  }

  @Test("A file that cannot be removed stays recorded")
  func cannotBeRemoved() async throws {
    try await bench.store().write(bench.credential(1))
    bench.files.fail(.removeFile, at: bench.defaultPath, with: .failed("Input/output error"))
    let store = bench.store()
    await #expect(throws: EndNotWritten.self) {
      try await store.remove(bench.end(.signedOut), fingerprint: fingerprint)
    }
    #expect(await !isReadable(store.read()), "so that it is looked at again")
    bench.files.fail(.removeFile, at: bench.defaultPath, with: nil)
    #expect(await store.read().end == bench.end(.signedOut))
    #expect(bench.files.fileNames == [bench.accountsPath])
  }

  @Test("What is left at the previously configured place is removed, too", arguments: [true, false])
  func leftover(isEndWritten: Bool) async throws {
    try await bench.store().write(bench.credential(1))
    let store = bench.store(at: bench.configuredPath)
    guard case .missing = await store.read() else {
      Issue.record("it is not missing")
      return
    }
    if isEndWritten { try await store.writeEnd(bench.end(.credentialMissing)) }
    try await bench.store(at: bench.configuredPath).remove(bench.end(.signedOut), fingerprint: nil)
    #expect(bench.files.fileNames == [bench.accountsPath])
    #expect(await bench.store().read().end == bench.end(.signedOut))
  }

  @Test("What is left at a place that is away does not prevent a sign-out, and is not used when it is back")
  func leftoverAway() async throws {
    for isConfiguredAgain in [true, false] {
      let bench = Bench()
      try await bench.store(at: bench.configuredPath).write(bench.credential(1))
      bench.files.unmount(Bench.secure)
      let store = bench.store()
      try await store.writeEnd(bench.end(.credentialMissing))
      try await store.remove(bench.end(.signedOut), fingerprint: nil)
      #expect(await bench.store().read().end == bench.end(.signedOut))
      bench.files.mountAll()
      let later = isConfiguredAgain ? bench.store(at: bench.configuredPath) : bench.store()
      for _ in 0..<2 { #expect(await later.read().end == bench.end(.signedOut)) }
      let left = bench.files.text(at: bench.configuredPath)
      #expect(isConfiguredAgain ? left?.contains("access-1") == false : left == nil)
    }
  }

  @Test("Other grants, and other accounts' grants, stay at the previous place")
  func notLeft() async throws {
    for text in [bench.text(2), bench.text(1, account: "home")] {
      let bench = Bench()
      try await bench.store().write(bench.credential(1))
      let store = bench.store(at: bench.configuredPath)
      try await store.writeEnd(bench.end(.credentialMissing))
      bench.files.put(text, at: bench.defaultPath)
      try await store.remove(bench.end(.signedOut), fingerprint: nil)
      #expect(bench.files.text(at: bench.defaultPath) == text)
    }
  }

  @Test("A grant left behind by signing in elsewhere is removed with the later one, and returned to be revoked")
  func leftByLater() async throws {
    try await bench.store().write(bench.credential(1))
    let store = bench.store(at: bench.configuredPath)
    try await store.write(bench.credential(2))
    let removed = try await store.remove(bench.end(.signedOut), fingerprint: nil)
    #expect(removed == RemovedCredentials(current: bench.credential(2), former: [bench.credential(1)]))
    #expect(bench.files.fileNames == [bench.accountsPath])
  }

  @Test("Files set aside at the previous place are removed, too, if nothing else is left there")
  func setAsideBefore() async throws {
    try await bench.store().write(bench.credential(1))
    bench.files.put("{", at: bench.defaultPath)
    _ = try await bench.store().setAside()
    let store = bench.store(at: bench.configuredPath)
    try await store.write(bench.credential(2))
    try await store.remove(bench.end(.signedOut), fingerprint: nil)
    #expect(!bench.files.fileNames.contains { $0.contains(".corrupt-") })
  }
}
