import HearthCore
import HearthStorage
import TestSupport
import Testing

@Suite("Reading the credential")
struct ReadingTests {
  let bench = Bench()

  private func signedIn(at path: String? = nil) async throws {
    try await bench.store(at: path).write(bench.credential(1))
  }

  private func reason(_ reading: CredentialReading) -> AccessFailure.Kind? {
    if case .unreadable(let accessFailure) = reading { accessFailure.kind } else { nil }
  }

  @Test("Without files and memory nobody ever signed in, and nothing is created")
  func neverSignedIn() async {
    #expect(await bench.store().read() == .neverSignedIn)
    #expect(await bench.store(at: bench.configuredPath).read() == .neverSignedIn)
    #expect(bench.files.fileNames == [])
  }

  @Test("File gone, marker there: the credential is missing")
  func missing() async throws {
    try await signedIn()
    bench.files.delete(bench.defaultPath)
    #expect(await bench.store().read() == .missing("\(bench.defaultPath) is gone"))
  }

  @Test("File gone, marker there: missing, even if accounts.json is gone too")
  func missingWithoutMemory() async throws {
    try await signedIn()
    bench.files.delete(bench.defaultPath)
    bench.files.delete(bench.accountsPath)
    #expect(await bench.store().read() == .missing("\(bench.defaultPath) is gone"))
  }

  @Test("File and marker gone, although remembered: the volume is away, and nothing is created there")
  func volumeAway() async throws {
    try await signedIn(at: bench.configuredPath)
    bench.files.unmount(Bench.secure)
    let before = bench.files.fileNames
    let store = bench.store(at: bench.configuredPath)
    #expect(reason(await store.read()) == .volumeUnavailable)
    await #expect(throws: AccessFailure.self) { try await store.prepare() }
    await #expect(throws: AccessFailure.self) { try await store.write(bench.credential(2)) }
    #expect(bench.files.fileNames == before)
    bench.files.mountAll()
    #expect(await store.read() == .found(bench.credential(1)))
  }

  @Test("The folder gone, although remembered: the volume is away")
  func folderAway() async throws {
    try await signedIn(at: bench.configuredPath)
    bench.files.unmount(Bench.secure)
    bench.files.delete(Bench.secure)
    #expect(reason(await bench.store(at: bench.configuredPath).read()) == .volumeUnavailable)
  }

  @Test("Another place's marker next to where the credential was: the volume is away")
  func otherVolume() async throws {
    try await signedIn(at: bench.configuredPath)
    bench.files.delete(bench.configuredPath)
    bench.files.put(String(repeating: "0", count: 32) + "\n", at: bench.configuredMarker)
    #expect(reason(await bench.store(at: bench.configuredPath).read()) == .volumeUnavailable)
  }

  @Test("An empty marker, made by hand, says that the place was emptied on purpose")
  func markerByHand() async throws {
    try await signedIn(at: bench.configuredPath)
    bench.files.delete(bench.configuredPath)
    bench.files.put("", at: bench.configuredMarker)
    #expect(
      await bench.store(at: bench.configuredPath).read() == .missing("\(bench.configuredPath) is gone"))
  }

  @Test("Another place is configured than is remembered, and nothing is there: missing, naming both")
  func movedByConfiguration() async throws {
    try await signedIn()
    let reading = await bench.store(at: bench.configuredPath).read()
    guard case .missing(let text) = reading else { throw UnexpectedReading(reading) }
    #expect(text.contains(bench.defaultPath) && text.contains(bench.configuredPath))
    #expect(bench.files.text(at: bench.defaultPath) != nil)
  }

  @Test("Another place is configured than is remembered, and a grant is there: it is found, and the place remembered")
  func movedWithTheFile() async throws {
    try await signedIn()
    bench.files.put(bench.text(1), at: bench.configuredPath)
    #expect(await bench.store(at: bench.configuredPath).read() == .found(bench.credential(1)))
    bench.files.unmount(Bench.secure)
    #expect(reason(await bench.store(at: bench.configuredPath).read()) == .volumeUnavailable)
  }

  @Test(
    "A file that cannot be read is unreadable, never missing",
    arguments: [
      (FileError.permissionDenied, AccessFailure.Kind.permissionDenied),
      (.keyUnavailable("Required key not available"), .keyUnavailable),
      (.volumeUnavailable("Transport endpoint is not connected"), .volumeUnavailable),
      (.unanswered(.seconds(10)), .volumeUnavailable),
      (.failed("Input/output error"), .storageError),
      (.notRegular, .storageError),
    ])
  func unreadable(error: FileError, kind: AccessFailure.Kind) async throws {
    try await signedIn()
    for path in [bench.defaultPath, Bench.state + "/credentials"] {
      bench.files.failAll(under: path, with: error)
      let store = bench.store()
      #expect(reason(await store.read()) == kind)
      await #expect(throws: AccessFailure.self) { try await store.write(bench.credential(2)) }
      bench.files.failAll(under: path, with: nil)
      #expect(await store.read() == .found(bench.credential(1)))
    }
  }

  @Test("For a mount that hangs, the error says how long Hearth waited")
  func hung() async throws {
    try await signedIn()
    bench.files.fail(.read, at: bench.defaultPath, with: .unanswered(.seconds(10)))
    #expect(
      await bench.store().read()
        == .unreadable(AccessFailure(.volumeUnavailable, detail: "\(bench.defaultPath) did not respond within 10 s")))
  }

  @Test("A missing file next to a marker that cannot be read is unreadable, not missing")
  func markerUnreadable() async throws {
    try await signedIn()
    bench.files.delete(bench.defaultPath)
    bench.files.fail(.read, at: bench.defaultMarker, with: .permissionDenied)
    #expect(reason(await bench.store().read()) == .permissionDenied)
  }

  @Test("A link at the default path is not followed")
  func linkAtDefaultPath() async throws {
    try await signedIn()
    bench.files.put(bench.text(2), at: "/home/me/elsewhere.json")
    bench.files.putLink(to: "/home/me/elsewhere.json", at: bench.defaultPath)
    #expect(reason(await bench.store().read()) == .storageError)
  }

  @Test("A configured path may be a link; only one is followed, and marker and temporary file are at its end")
  func linkAtConfiguredPath() async throws {
    let link = "/home/me/work.json"
    bench.files.put(bench.text(1), at: bench.configuredPath)
    bench.files.putLink(to: "secure/work.json", at: link)
    let store = bench.store(at: link)
    #expect(await store.read() == .found(bench.credential(1)))
    #expect(bench.files.text(at: bench.configuredMarker) != nil)
    try await store.write(bench.credential(2))
    #expect(bench.files.text(at: bench.configuredPath)?.contains("access-2") == true)
    #expect(await store.read() == .found(bench.credential(2)))
    bench.files.unmount(Bench.secure)
    #expect(reason(await store.read()) == .volumeUnavailable)

    bench.files.mountAll()
    bench.files.putLink(to: link, at: "/home/me/second.json")
    #expect(reason(await bench.store(at: "/home/me/second.json").read()) == .storageError)
  }

  @Test("A file that belongs to another user is not read")
  func notOwn() async throws {
    try await signedIn()
    bench.files.put(bench.text(2), at: bench.defaultPath, isOwn: false)
    #expect(reason(await bench.store().read()) == .permissionDenied)
  }

  @Test("A file of more than 1 MiB is corrupt")
  func tooBig() async throws {
    try await signedIn()
    bench.files.put(String(repeating: " ", count: 1 << 20) + bench.text(1), at: bench.defaultPath)
    #expect(await bench.store().read() == .corrupt("it is larger than 1 MiB"))
  }

  @Test("Too wide permissions are narrowed", arguments: [0o640, 0o604, 0o666, 0o700] as [UInt32])
  func narrowed(mode: UInt32) async throws {
    try await signedIn()
    bench.files.put(bench.text(2), at: bench.defaultPath, mode: mode)
    #expect(await bench.store().read() == .found(bench.credential(2)))
    #expect(bench.files.mode(at: bench.defaultPath) == (mode & 0o077 == 0 ? mode : 0o600))
  }

  @Test("Permissions that cannot be narrowed do not prevent reading")
  func cannotBeNarrowed() async throws {
    try await signedIn()
    bench.files.put(bench.text(2), at: bench.defaultPath, mode: 0o644)
    bench.files.fail(.setMode, at: bench.defaultPath, with: .permissionDenied)
    #expect(await bench.store().read() == .found(bench.credential(2)))
  }

  @Test("A file that another program renamed into place is used at once")
  func replacedByRename() async throws {
    let store = bench.store()
    try await store.write(bench.credential(1))
    bench.files.put(bench.text(2), at: bench.defaultPath)
    #expect(await store.read() == .found(bench.credential(2)))
    #expect(bench.clock.slept == .zero)
  }

  @Test("A file that another program writes in place is used once it has not changed for 500 ms")
  func writtenInPlace() async throws {
    let (bench, store) = (bench, bench.store())
    try await store.write(bench.credential(1))
    bench.clock.advance(by: .seconds(60))
    bench.files.putInPlace(bench.text(2), at: bench.defaultPath)
    bench.clock.duringNextSleep { bench.files.putInPlace(bench.text(3), at: bench.defaultPath) }
    #expect(await store.read() == .found(bench.credential(3)))
    #expect(bench.clock.slept == .seconds(1))
    #expect(await store.read() == .found(bench.credential(3)))
    #expect(bench.clock.slept == .seconds(1))
  }

  @Test("A half-written file is waited for, even if it was never seen before")
  func halfWritten() async throws {
    let bench = bench
    try await signedIn()
    bench.files.put(String(bench.text(2).prefix(80)), at: bench.defaultPath)
    bench.clock.duringNextSleep { bench.files.putInPlace(bench.text(2), at: bench.defaultPath) }
    #expect(await bench.store().read() == .found(bench.credential(2)))
  }

  @Test("A file that keeps changing is unreadable after ten seconds")
  func neverStill() async throws {
    let bench = bench
    try await signedIn()
    bench.files.put("{", at: bench.defaultPath)
    for number in 0..<30 {
      bench.clock.duringNextSleep {
        bench.files.putInPlace(String(repeating: "{", count: number + 2), at: bench.defaultPath)
      }
    }
    #expect(reason(await bench.store().read()) == .storageError)
    #expect(bench.clock.slept == .seconds(10))
  }

  @Test("A program that removes the file before it writes it again does not end the session")
  func removedAndWritten() async throws {
    let bench = bench
    try await signedIn()
    bench.files.delete(bench.defaultPath)
    bench.clock.duringNextSleep { bench.files.put(bench.text(2), at: bench.defaultPath) }
    #expect(await bench.store().read() == .found(bench.credential(2)))
  }

  @Test("A volume that goes away between the checks of file and marker is away, not emptied")
  func unmountedMeanwhile() async throws {
    let bench = bench
    try await signedIn(at: bench.configuredPath)
    bench.files.delete(bench.configuredPath)
    bench.clock.duringNextSleep { bench.files.unmount(Bench.secure) }
    #expect(reason(await bench.store(at: bench.configuredPath).read()) == .volumeUnavailable)
  }

  @Test("A volume that goes away after any step of a read or write never looks emptied")
  func unmountedAtAnyStep() async throws {
    typealias Change = (FileCredentialStore, Bench) async throws -> Void
    let changes: [Change] = [
      { store, _ in _ = await store.read() },
      { store, bench in
        bench.files.delete(bench.configuredMarker)
        _ = await store.read()
      },
      { store, bench in
        try await store.prepare()
        try await store.write(bench.credential(2))
      },
      { store, bench in try await store.writeEnd(bench.end(.refreshTokenRejected)) },
    ]
    for (number, change) in changes.enumerated() {
      for steps in 0... {
        let bench = Bench()
        try await bench.store(at: bench.configuredPath).write(bench.credential(1))
        bench.files.unmount(Bench.secure, afterSteps: steps)
        try? await change(bench.store(at: bench.configuredPath), bench)
        guard !bench.files.isLeaving else { break }
        let away = await bench.store(at: bench.configuredPath).read()
        if case .missing = away { Issue.record("change \(number), \(steps) steps: \(bench.files.log)") }
        bench.files.mountAll()
        let back = await bench.store(at: bench.configuredPath).read()
        if case .missing = back { Issue.record("change \(number), \(steps) steps: \(bench.files.log)") }
      }
    }
  }

  @Test("A missing marker next to a corrupt file is created too, so that one can sign in again")
  func healedBesideCorrupt() async throws {
    try await signedIn()
    bench.files.delete(bench.defaultMarker)
    bench.files.put("{", at: bench.defaultPath)
    let store = bench.store()
    #expect(await store.read() == .corrupt("it is not JSON"))
    _ = try await store.setAside()
    #expect(await store.read() == .missing("\(bench.defaultPath) is gone"))
    try await store.write(bench.credential(2))
    #expect(await bench.store().read() == .found(bench.credential(2)))
  }

  @Test("A missing marker and missing memory are created when the file is read")
  func healed() async throws {
    try await signedIn()
    let marker = try #require(bench.files.text(at: bench.defaultMarker))
    bench.files.delete(bench.defaultMarker)
    #expect(await bench.store().read() == .found(bench.credential(1)))
    // The identifier is a new one, and the memory knows it.
    let healed = try #require(bench.files.text(at: bench.defaultMarker))
    #expect(healed != marker)
    let memory = try #require(bench.files.text(at: bench.accountsPath))
    #expect(memory.contains(healed.dropLast()))
    bench.files.delete(bench.accountsPath)
    #expect(await bench.store().read() == .found(bench.credential(1)))
    #expect(bench.files.text(at: bench.accountsPath) == memory)
    bench.files.delete(bench.accountsPath)
    bench.files.delete(bench.defaultMarker)
    #expect(await bench.store().read() == .found(bench.credential(1)))
    bench.files.delete(bench.defaultPath)
    #expect(await bench.store().read() == .missing("\(bench.defaultPath) is gone"))
  }

  @Test("A grant is found even if neither marker nor memory can be written")
  func cannotHeal() async throws {
    bench.files.put(bench.text(1), at: bench.configuredPath)
    bench.files.failAll(under: bench.configuredMarker, with: .failed("Read-only file system"))
    bench.files.fail(.createFolder, at: Bench.state, with: .noSpace)
    #expect(await bench.store(at: bench.configuredPath).read() == .found(bench.credential(1)))
  }

  @Test("The subject stays known while the credential is away, and changes with the grant")
  func subject() async throws {
    try await signedIn(at: bench.configuredPath)
    bench.files.unmount(Bench.secure)
    #expect(try await bench.store(at: bench.configuredPath).remembered().subject == bench.credential(1).subject)
    bench.files.mountAll()
    bench.files.put(#"{"version":1,"grant":{"accessToken":"x"}}"#, at: bench.configuredPath)
    _ = await bench.store(at: bench.configuredPath).read()
    #expect(try await bench.store(at: bench.configuredPath).remembered().subject == nil)
  }

  @Test("Nothing is assumed if accounts.json cannot be read")
  func memoryUnreadable() async throws {
    try await signedIn()
    bench.files.fail(.read, at: bench.accountsPath, with: .failed("Input/output error"))
    #expect(reason(await bench.store().read()) == .storageError)
  }

  @Test("The file, its marker and its key are watched for changes")
  func watched() async throws {
    let changes = bench.store(at: bench.configuredPath, protection: .keyFile, keyFile: "/run/key").changes()
    #expect(bench.watch.paths == [bench.configuredPath, bench.configuredMarker, "/run/key"])
    bench.watch.hint()
    var iterator = changes.makeAsyncIterator()
    #expect(await iterator.next() != nil)
  }
}
