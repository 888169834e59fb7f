import HearthCore
import HearthStorage
import TestSupport
import Testing

/// Stops everything that changes the disk after each of its steps.
@Suite("Power loss")
struct PowerLossTests {
  /// Runs `change` and cuts the power after 0, 1, 2 … steps, until it gets through.
  private func stopped(
    after loss: MemoryFileSystem.Loss, path: String?, from start: (Bench) async throws -> Void,
    change: (FileCredentialStore, Bench) async throws -> Void,
    check: (_ bench: Bench, _ reading: CredentialReading, _ isDone: Bool, _ steps: Int) async throws -> Void
  ) async throws {
    var isDone = false
    var steps = 0
    while !isDone {
      let bench = Bench()
      try await start(bench)
      let before = bench.files.changesMade
      bench.files.stop(afterChanges: steps)
      do {
        try await change(bench.store(at: path), bench)
        isDone = bench.files.changesMade - before < steps
      } catch is AccessFailure {
      } catch is EndNotWritten {
      }
      bench.files.restart(after: loss)
      try await check(bench, await bench.store(at: path).read(), isDone, steps)
      steps += 1
    }
    #expect(steps > 5)
  }

  /// What must be true after any read that found a grant: it repairs the other files.
  private func expectHealed(_ bench: Bench, at path: String?) async {
    bench.files.delete(path ?? bench.defaultPath)
    let gone = await bench.store(at: path).read()
    #expect(gone == .missing("\(path ?? bench.defaultPath) is gone"))
    bench.files.delete(path == nil ? bench.defaultMarker : bench.configuredMarker)
    let away = await bench.store(at: path).read()
    guard case .unreadable(let accessFailure) = away else {
      Issue.record("a place that is away is read as \(away)")
      return
    }
    #expect(accessFailure.kind == .volumeUnavailable)
  }

  @Test("A first sign-in is there completely or not at all", arguments: MemoryFileSystem.Loss.allCases, [false, true])
  func firstWrite(loss: MemoryFileSystem.Loss, isConfigured: Bool) async throws {
    let path = isConfigured ? Bench().configuredPath : nil
    try await stopped(after: loss, path: path) { _ in
    } change: { store, bench in
      try await store.write(bench.credential(1))
    } check: { bench, reading, isDone, steps in
      if reading == .found(bench.credential(1)) {
        await expectHealed(bench, at: path)
      } else {
        #expect(reading == .neverSignedIn && !isDone, "after \(steps) steps")
        try await bench.store(at: path).write(bench.credential(2))
        #expect(await bench.store(at: path).read() == .found(bench.credential(2)))
      }
    }
  }

  @Test(
    "After a rotation the old or the new grant is complete; the new one once the write has returned",
    arguments: MemoryFileSystem.Loss.allCases, [false, true])
  func rotation(loss: MemoryFileSystem.Loss, isPrepared: Bool) async throws {
    var found: Set<Credential> = []
    try await stopped(after: loss, path: nil) { bench in
      try await bench.store().write(bench.credential(1))
    } change: { store, bench in
      if isPrepared { try await store.prepare() }
      try await store.write(bench.credential(2))
    } check: { bench, reading, isDone, steps in
      guard case .found(let credential, .current) = reading else { throw UnexpectedReading(reading) }
      #expect(credential == bench.credential(2) || credential == bench.credential(1) && !isDone, "after \(steps) steps")
      found.insert(credential)
      await expectHealed(bench, at: nil)
    }
    #expect(found.count == 2)
  }

  @Test("A sealed rotation is complete, too", arguments: MemoryFileSystem.Loss.allCases)
  func sealedRotation(loss: MemoryFileSystem.Loss) async throws {
    var steps = 0
    var isDone = false
    while !isDone {
      let bench = Bench()
      bench.files.put(String(repeating: "k", count: 32), at: "/home/me/key")
      func store() -> FileCredentialStore { bench.store(protection: .keyFile, keyFile: "/home/me/key") }
      try await store().write(bench.credential(1))
      bench.files.stop(afterChanges: steps)
      isDone = (try? await store().write(bench.credential(2))) != nil
      bench.files.restart(after: loss)
      let reading = await store().read()
      #expect(reading == .found(bench.credential(2)) || !isDone && reading == .found(bench.credential(1)))
      steps += 1
    }
    #expect(steps > 3)
  }

  @Test("After an end, either it is on record or the grant is there", arguments: MemoryFileSystem.Loss.allCases)
  func end(loss: MemoryFileSystem.Loss) async throws {
    try await stopped(after: loss, path: nil) { bench in
      try await bench.store().write(bench.credential(1))
    } change: { store, bench in
      try await store.writeEnd(bench.end(.refreshTokenRejected))
    } check: { bench, reading, isDone, steps in
      let end = bench.end(.refreshTokenRejected)
      #expect(reading == .ended(end) || reading == .found(bench.credential(1)) && !isDone, "after \(steps) steps")
      if reading == .ended(end) {
        #expect(await bench.store().read().end == end)
        #expect((try? await bench.store().remembered())?.end == end)
        #expect(bench.files.text(at: bench.defaultPath)?.contains("refresh-1") == false)
      }
    }
  }

  @Test("A sign-out is carried out or has not begun", arguments: MemoryFileSystem.Loss.allCases)
  func signOut(loss: MemoryFileSystem.Loss) async throws {
    try await stopped(after: loss, path: nil) { bench in
      try await bench.store().write(bench.credential(1))
    } change: { store, bench in
      try await store.remove(bench.end(.signedOut), fingerprint: bench.grant(1).accessToken.fingerprint)
    } check: { bench, reading, isDone, steps in
      let end = bench.end(.signedOut)
      #expect(reading.end == end || reading == .found(bench.credential(1)) && !isDone, "after \(steps) steps")
      guard reading.end == end else { return }
      #expect(bench.files.fileNames.filter { $0.contains("/credentials/") } == [], "after \(steps) steps")
      #expect(await bench.store().read().end == end)
      try await bench.store().write(bench.credential(2))
      #expect(await bench.store().read() == .found(bench.credential(2)))
    }
  }
}
