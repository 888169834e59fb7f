import HearthCore
import HearthStorage
import TestSupport
import Testing

@Suite("A change of the configured protection")
struct ProtectionChangeTests {
  let bench = Bench()
  let key = "/home/me/key"

  private var text: String { bench.files.text(at: bench.defaultPath) ?? "" }

  private func putKey(_ trackedRequest: Character = "k") {
    bench.files.put(String(repeating: trackedRequest, count: 40), at: key)
  }

  private func sealed(with passphrase: String = "open sesame") async throws {
    let store = bench.store(protection: .passphrase)
    try await store.unlock(passphrase: Secret(passphrase))
    try await store.write(bench.credential(1))
  }

  private func accessFailure(_ reading: CredentialReading) -> AccessFailure? {
    if case .unreadable(let accessFailure) = reading { accessFailure } else { nil }
  }

  @Test("An unsealed file with a key file configured is found as misprotected, and sealed by the next write")
  func openUnderKeyFile() async throws {
    putKey()
    try await bench.store().write(bench.credential(1))
    let store = bench.store(protection: .keyFile, keyFile: key)
    #expect(await store.read() == .found(bench.credential(1), .misprotected))
    try await store.write(bench.credential(1))
    #expect(!text.contains("access-1") && !text.contains("refresh-1"))
    #expect(await store.read() == .found(bench.credential(1)))
    // Another program, which does not know about seals.
    bench.files.put(bench.text(2), at: bench.defaultPath)
    #expect(await store.read() == .found(bench.credential(2), .misprotected))
  }

  @Test("An unsealed file with a passphrase configured is found, and can be sealed once the passphrase is set")
  func openUnderPassphrase() async throws {
    try await bench.store().write(bench.credential(1))
    let store = bench.store(protection: .passphrase)
    #expect(await store.read() == .found(bench.credential(1), .misprotected))
    await #expect(throws: AccessFailure(.passphraseRequired, detail: "a passphrase is needed to seal the credential")) {
      try await store.write(bench.credential(1))
    }
    #expect(text.contains("access-1"), "what cannot be sealed yet stays as it is")
    try await store.unlock(passphrase: Secret("open sesame"))
    #expect(await store.read() == .found(bench.credential(1), .misprotected))
    try await store.write(bench.credential(1))
    #expect(!text.contains("access-1"))
    #expect(await store.read() == .found(bench.credential(1)))
  }

  @Test("A file sealed with a passphrase is opened by it, and unsealed by the next write if none is configured")
  func passphraseToNone() async throws {
    try await sealed()
    let store = bench.store()
    #expect(accessFailure(await store.read())?.kind == .passphraseRequired)
    try await store.unlock(passphrase: Secret("open sesame"))
    #expect(await store.read() == .found(bench.credential(1), .misprotected))
    try await store.write(bench.credential(1))
    #expect(await bench.store().read() == .found(bench.credential(1)))
    // The key is not kept after its use.
    try await sealed()
    #expect(accessFailure(await store.read())?.kind == .passphraseRequired)
  }

  @Test("From a passphrase to a key file and back nothing is lost, and each seal opens as configured")
  func passphraseToKeyFileAndBack() async throws {
    putKey()
    try await sealed()
    let filed = bench.store(protection: .keyFile, keyFile: key)
    #expect(accessFailure(await filed.read())?.kind == .passphraseRequired)
    await #expect(throws: AccessFailure.self) { try await filed.write(bench.credential(1)) }
    try await filed.unlock(passphrase: Secret("open sesame"))
    #expect(await filed.read() == .found(bench.credential(1), .misprotected))
    try await filed.write(bench.credential(1))
    #expect(text.contains(#""protection":"key-file""#))
    #expect(await bench.store(protection: .keyFile, keyFile: key).read() == .found(bench.credential(1)))

    let back = bench.store(protection: .passphrase, keyFile: key)
    #expect(await back.read() == .found(bench.credential(1), .misprotected))
    try await back.unlock(passphrase: Secret("another"))
    try await back.write(bench.credential(1))
    #expect(text.contains(#""protection":"passphrase""#))
    #expect(await back.read() == .found(bench.credential(1)))
  }

  @Test("A file sealed with a key file is opened by it as long as it is named, and otherwise the error says what to do")
  func keyFileToNone() async throws {
    putKey()
    try await bench.store(protection: .keyFile, keyFile: key).write(bench.credential(1))
    let before = text
    let detail = try #require(accessFailure(await bench.store().read()))
    #expect(detail.kind == .keyUnavailable)
    #expect(detail.detail.contains("set key_file to it again"))
    await #expect(throws: AccessFailure.self) { try await bench.store().write(bench.credential(2)) }
    #expect(text == before)
    let store = bench.store(keyFile: key)
    #expect(await store.read() == .found(bench.credential(1), .misprotected))
    try await store.write(bench.credential(1))
    #expect(await bench.store().read() == .found(bench.credential(1)))
  }

  @Test("An end is reported whatever the protection")
  func ended() async throws {
    putKey()
    try await bench.store().write(bench.credential(1))
    try await bench.store().writeEnd(bench.end(.refreshTokenExpired))
    #expect(
      await bench.store(protection: .keyFile, keyFile: key).read() == .ended(bench.end(.refreshTokenExpired)))
  }

  @Test(
    "If the power fails during sealing or unsealing, one of the two versions is there",
    arguments: MemoryFileSystem.Loss.allCases)
  func powerLoss(loss: MemoryFileSystem.Loss) async throws {
    for isSealing in [true, false] {
      var steps = 0
      var isDone = false
      var readings: [Bool] = []
      while !isDone {
        let bench = Bench()
        bench.files.put(String(repeating: "k", count: 40), at: key)
        func store(sealed: Bool) -> FileCredentialStore {
          bench.store(protection: sealed ? .keyFile : .none, keyFile: key)
        }
        try await store(sealed: !isSealing).write(bench.credential(1))
        bench.files.stop(afterChanges: steps)
        isDone = (try? await store(sealed: isSealing).write(bench.credential(1))) != nil
        bench.files.restart(after: loss)
        let reading = await store(sealed: isSealing).read()
        let isThere = [.found(bench.credential(1)), .found(bench.credential(1), .misprotected)].contains(reading)
        #expect(isThere, "after \(steps) steps")
        #expect(!isDone || reading == .found(bench.credential(1)))
        readings.append(reading == .found(bench.credential(1)))
        steps += 1
      }
      #expect(readings.contains(false) && readings.contains(true))
    }
  }
}
