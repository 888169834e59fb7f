import HearthCore
import HearthHashing
import HearthStorage
import TestSupport
import Testing

@Suite("Writing the credential")
struct WritingTests {
  /// Ends that are about no grant: none is there when they are written.
  private static let losses = [EndReason.credentialMissing, .credentialCorrupt, .credentialTooNew]

  let bench = Bench()

  @Test("Written to a temporary file, synced, renamed, folder synced; then the marker, then accounts.json")
  func order() async throws {
    let store = bench.store()
    try await store.write(bench.credential(1))
    bench.files.delete(bench.defaultMarker)
    bench.files.clearLog()
    try await store.write(bench.credential(2, subject: "other"))
    let folder = Bench.state + "/credentials"
    let changes = bench.files.log.filter { line in
      !["read ", "status ", "removeFile ", "createFolder "].contains { line.hasPrefix($0) }
    }
    #expect(
      changes == [
        "createFile \(folder)/.work.json.new", "write \(folder)/.work.json.new", "syncFile \(folder)/.work.json.new",
        "rename \(folder)/.work.json.new", "syncFolder \(folder)",
        "createFile \(folder)/..hearth-work.new", "write \(folder)/..hearth-work.new",
        "syncFile \(folder)/..hearth-work.new", "rename \(folder)/..hearth-work.new", "syncFolder \(folder)",
        "createFile \(Bench.state)/.accounts.json.new", "write \(Bench.state)/.accounts.json.new",
        "syncFile \(Bench.state)/.accounts.json.new", "rename \(Bench.state)/.accounts.json.new",
        "syncFolder \(Bench.state)",
      ])
  }

  @Test("The temporary file is created and its room allocated in advance, and used by the write")
  func prepared() async throws {
    let store = bench.store()
    let temporary = Bench.state + "/credentials/.work.json.new"
    try await store.prepare()
    try await store.prepare()
    #expect(bench.files.log.filter { $0 == "allocate \(temporary)" }.count == 1)
    #expect(bench.files.text(at: temporary)?.utf8.count == 64 << 10)
    // A disk that fills up after that does not matter.
    bench.files.fail(.createFile, at: temporary, with: .noSpace)
    bench.files.fail(.allocate, at: temporary, with: .noSpace)
    try await store.write(bench.credential(1))
    #expect(bench.files.text(at: temporary) == nil)
    #expect(await store.read() == .found(bench.credential(1)))
    await #expect(throws: AccessFailure(.storageError, detail: "\(temporary): no space left")) {
      try await store.prepare()
    }
  }

  @Test("The default folder is created by the first write, and not again once it is gone with all its contents")
  func defaultFolder() async throws {
    let folder = Bench.state + "/credentials"
    #expect(await bench.store().read() == .neverSignedIn)
    #expect(!bench.files.log.contains("createFolder \(folder)"))
    try await bench.store().write(bench.credential(1))
    #expect(bench.files.log.contains("createFolder \(folder)"))
    bench.files.unmount(folder)
    bench.files.delete(folder)
    let before = bench.files.log.count
    for _ in 0..<2 {
      let store = bench.store()
      await #expect(throws: AccessFailure.self) { try await store.prepare() }
      await #expect(throws: AccessFailure.self) { try await store.write(bench.credential(2)) }
    }
    #expect(!bench.files.log.dropFirst(before).contains { $0.hasPrefix("create") })
  }

  @Test("A prepared file that somebody removed is created again")
  func preparedAndGone() async throws {
    let store = bench.store()
    try await store.prepare()
    bench.files.delete(Bench.state + "/credentials/.work.json.new")
    try await store.write(bench.credential(1))
    #expect(await store.read() == .found(bench.credential(1)))
  }

  @Test("If a prepared file was removed, the next refresh is not sent before there is room again")
  func preparedAgain() async throws {
    let store = bench.store()
    let temporary = Bench.state + "/credentials/.work.json.new"
    try await store.prepare()
    bench.files.delete(temporary)
    bench.files.fail(.allocate, at: temporary, with: .noSpace)
    await #expect(throws: AccessFailure.self) { try await store.prepare() }
    bench.files.fail(.allocate, at: temporary, with: nil)
    try await store.prepare()
    #expect(bench.files.text(at: temporary)?.utf8.count == 64 << 10)
  }

  @Test("An unused prepared file is removed by a lock, and one that a crash left behind by the next start")
  func tidied() async throws {
    let temporary = Bench.state + "/credentials/.work.json.new"
    let store = bench.store()
    try await store.write(bench.credential(1))
    try await store.prepare()
    await store.lock()
    #expect(bench.files.text(at: temporary) == nil)
    try await store.prepare()
    _ = await store.read()
    #expect(bench.files.text(at: temporary) != nil)
    _ = await bench.store().read()
    #expect(bench.files.text(at: temporary) == nil)
  }

  @Test(
    "A write that fails at any step leaves the old credential and no temporary file",
    arguments: [MemoryFileSystem.Step.createFile, .write, .syncFile, .rename])
  func failed(step: MemoryFileSystem.Step) async throws {
    let store = bench.store()
    try await store.write(bench.credential(1))
    let temporary = Bench.state + "/credentials/.work.json.new"
    bench.files.fail(step, at: temporary, with: .failed("Input/output error"))
    await #expect(throws: AccessFailure.self) { try await store.write(bench.credential(2)) }
    #expect(await store.read() == .found(bench.credential(1)))
    #expect(bench.files.text(at: temporary) == nil)
    bench.files.fail(step, at: temporary, with: nil)
    try await store.write(bench.credential(2))
    #expect(await store.read() == .found(bench.credential(2)))
  }

  @Test("A write does not return before the folder is on disk")
  func folderNotSynced() async throws {
    let store = bench.store()
    try await store.write(bench.credential(1))
    bench.files.fail(.syncFolder, at: Bench.state + "/credentials", with: .failed("Input/output error"))
    await #expect(throws: AccessFailure.self) { try await store.write(bench.credential(2)) }
  }

  @Test("The default folder is created, only for its owner; a configured one is not")
  func folders() async throws {
    try await bench.store().write(bench.credential(1))
    #expect(bench.files.mode(at: Bench.state + "/credentials") == 0o700)
    let other = Bench()
    let store = other.store(at: "/home/me/absent/work.json")
    await #expect(throws: AccessFailure(.volumeUnavailable, detail: "/home/me/absent does not exist")) {
      try await store.prepare()
    }
    await #expect(throws: AccessFailure.self) { try await store.write(other.credential(1)) }
    #expect(other.files.fileNames == [])
  }

  @Test("Signing in at another place than is remembered writes there, and leaves the old file")
  func newPlace() async throws {
    try await bench.store().write(bench.credential(1))
    let store = bench.store(at: bench.configuredPath)
    try await store.write(bench.credential(2))
    #expect(await store.read() == .found(bench.credential(2)))
    #expect(bench.files.text(at: bench.defaultPath)?.contains("access-1") == true)
  }

  @Test(
    "A file that cannot be understood is set aside before anything is written over it",
    arguments: [
      ("{", "corrupt"), (#"{"version":2}"#, "newer"),
    ])
  func setAsideByWriting(text: String, label: String) async throws {
    try await bench.store().write(bench.credential(1))
    bench.files.put(text, at: bench.defaultPath)
    let store = bench.store()
    try await store.write(bench.credential(2))
    #expect(await store.read() == .found(bench.credential(2)))
    let kept = bench.files.fileNames.filter { $0.hasPrefix("\(bench.defaultPath).\(label)-") }
    #expect(kept.map { bench.files.text(at: $0) } == [text])
  }

  @Test("Setting aside moves the file to a new name next to it, and never over another file")
  func setAside() async throws {
    let store = bench.store()
    try await store.write(bench.credential(1))
    bench.files.put("{", at: bench.defaultPath)
    let first = try await store.setAside()
    #expect(first == bench.defaultPath + ".corrupt-20261121T100000000Z")
    bench.files.put("[", at: bench.defaultPath)
    let second = try await store.setAside()
    #expect(second == first + "x" && bench.files.text(at: second) == "[")
    #expect(bench.files.text(at: first) == nil, "the newest is kept")
    #expect(bench.files.text(at: bench.defaultPath) == nil)
  }

  @Test("Details of an end are kept only in accounts.json")
  func detail() async throws {
    try await bench.store().write(bench.credential(1))
    let end = EndRecord(reason: .credentialMissing, at: bench.clock.now(), fingerprint: nil, detail: "It was there.")
    bench.files.delete(bench.defaultPath)
    try await bench.store().writeEnd(end)
    #expect(try await bench.store().remembered().end == end)
    #expect(await bench.store().read() == .ended(end))
    #expect(try await bench.store().remembered().end == end)
    #expect(bench.files.text(at: bench.defaultPath)?.contains("It was there") == false)
  }

  @Test("An end is on record in both places, and found by the next start", arguments: EndReason.allCases)
  func ended(reason: EndReason) async throws {
    try await bench.store().write(bench.credential(1))
    let end = bench.end(reason, fingerprint: bench.grant(1).refreshToken?.fingerprint)
    if Self.losses.contains(reason) { bench.files.delete(bench.defaultPath) }
    try await bench.store().writeEnd(end)
    #expect(try await bench.store().remembered().end == end)
    #expect(await bench.store().read() == .ended(end))
    #expect(bench.files.text(at: bench.defaultPath)?.contains("access-1") == false)
    bench.files.delete(bench.accountsPath)
    #expect(await bench.store().read() == .ended(end))
    #expect(try await bench.store().remembered().end == end)
    bench.files.delete(bench.defaultPath)
    #expect(await bench.store().read() == .ended(end))
  }

  @Test("An end is on record if the file or accounts.json takes it; if neither does, that is reported")
  func endInOnePlace() async throws {
    let end = bench.end(.refreshTokenRejected, fingerprint: bench.grant(1).refreshToken?.fingerprint)
    for (isFileFull, isMemoryFull) in [(true, false), (false, true), (true, true)] {
      let bench = Bench()
      try await bench.store().write(bench.credential(1))
      if isFileFull {
        bench.files.fail(.createFile, at: Bench.state + "/credentials/.work.json.new", with: .noSpace)
      }
      if isMemoryFull { bench.files.fail(.createFile, at: Bench.state + "/.accounts.json.new", with: .noSpace) }
      do throws(EndNotWritten) {
        try await bench.store().writeEnd(end)
        Issue.record("it is told as written")
      } catch {
        let isPartly = if case .partly = error { true } else { false }
        #expect(isPartly == !(isFileFull && isMemoryFull))
      }
      // What a killed process leaves behind.
      let reading = await bench.store().read()
      #expect(reading == (isFileFull && isMemoryFull ? .found(bench.credential(1)) : .ended(end)))
    }
  }

  @Test("An end is remembered if the file cannot be written, and the refused grant is not used again")
  func endWithoutFile() async throws {
    let store = bench.store()
    try await store.write(bench.credential(1))
    let end = bench.end(.refreshTokenRejected)
    let temporary = Bench.state + "/credentials/.work.json.new"
    bench.files.fail(.createFile, at: temporary, with: .noSpace)
    await #expect(throws: EndNotWritten.self) { try await store.writeEnd(end) }
    #expect(try await bench.store().remembered().end == end)
    #expect(await bench.store().read() == .ended(end))
    bench.files.fail(.createFile, at: temporary, with: nil)
    #expect(await bench.store().read() == .ended(end))
    #expect(bench.files.text(at: bench.defaultPath)?.contains("refreshTokenRejected") == true)
  }

  @Test("An end about a grant that was never stored does not revive the previous one")
  func endOfPendingGrant() async throws {
    let store = bench.store()
    try await store.write(bench.credential(1))
    bench.files.failAll(under: bench.defaultPath, with: .failed("Input/output error"))
    let end = bench.end(.refreshTokenRejected, fingerprint: Token(hashing: Secret("refresh-2")).fingerprint)
    await #expect(throws: EndNotWritten.self) { try await store.writeEnd(end) }
    bench.files.failAll(under: bench.defaultPath, with: nil)
    #expect(await bench.store().read() == .ended(end))
  }

  @Test("After an end, a grant that another program puts there is adopted", arguments: EndReason.allCases)
  func adoptedAfterEnd(reason: EndReason) async throws {
    let store = bench.store()
    try await store.write(bench.credential(1))
    if Self.losses.contains(reason) { bench.files.delete(bench.defaultPath) }
    try await store.writeEnd(bench.end(reason))
    bench.files.put(bench.text(2), at: bench.defaultPath)
    #expect(await store.read() == .found(bench.credential(2)))
    #expect(try await bench.store().remembered().end == nil)
  }

  @Test(
    "A grant that was lost or could not be understood is used when it is back",
    arguments: losses)
  func restored(reason: EndReason) async throws {
    let store = bench.store()
    try await store.write(bench.credential(1))
    bench.files.delete(bench.defaultPath)
    try await store.writeEnd(bench.end(reason))
    bench.files.put(bench.text(1), at: bench.defaultPath)
    #expect(await store.read() == .found(bench.credential(1)))
  }

  @Test("A refused grant that is put back is not used again")
  func refusedAndRestored() async throws {
    let store = bench.store()
    try await store.write(bench.credential(1))
    try await store.writeEnd(bench.end(.refreshTokenRejected))
    bench.files.put(bench.text(1), at: bench.defaultPath)
    #expect(await store.read() == .ended(bench.end(.refreshTokenRejected)))
  }

  @Test("A newer version's file is left unchanged when the session ends over it")
  func endOverNewerVersion() async throws {
    let store = bench.store()
    try await store.write(bench.credential(1))
    bench.files.put(#"{"version":2}"#, at: bench.defaultPath)
    try await store.writeEnd(bench.end(.credentialTooNew))
    #expect(bench.files.text(at: bench.defaultPath) == #"{"version":2}"#)
    #expect(try await bench.store().remembered().end?.reason == .credentialTooNew)
    #expect(await bench.store().read() == .tooNew(version: 2))
  }

  @Test("The user's lock is remembered")
  func lockedByUser() async throws {
    try await bench.store().write(bench.credential(1))
    try await bench.store().remember(lockedByUser: true)
    #expect(try await bench.store().remembered().lockedByUser)
    _ = await bench.store().read()
    #expect(try await bench.store().remembered().lockedByUser)
    try await bench.store().remember(lockedByUser: false)
    #expect(try await !bench.store().remembered().lockedByUser)
  }

  @Test("Unreadable memory is not treated as empty")
  func unreadableMemory() async throws {
    try await bench.store().remember(lockedByUser: true)
    let store = bench.store()
    bench.files.fail(.read, at: bench.accountsPath, with: .failed("Input/output error"))
    await #expect(throws: AccessFailure.self) { try await store.remembered() }
    bench.files.fail(.read, at: bench.accountsPath, with: nil)
    #expect(try await store.remembered().lockedByUser)
  }

  @Test("A lock alone does not count as a remembered credential")
  func lockedBeforeSignIn() async throws {
    try await bench.store().remember(lockedByUser: true)
    #expect(await bench.store().read() == .neverSignedIn)
  }

  @Test("An end is not written over a grant that it is not about, which can be adopted")
  func endOverAnotherGrant() async throws {
    let store = bench.store()
    try await store.write(bench.credential(1))
    bench.files.put(bench.text(2), at: bench.defaultPath)
    let end = bench.end(.refreshTokenRejected, fingerprint: bench.grant(1).refreshToken?.fingerprint)
    await #expect(throws: EndNotWritten.self) { try await store.writeEnd(end) }
    #expect(bench.files.text(at: bench.defaultPath) == bench.text(2))
    #expect(try await bench.store().remembered().end == end)
    #expect(await store.read() == .found(bench.credential(2)))
  }
}
