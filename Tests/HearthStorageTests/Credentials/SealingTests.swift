import Crypto
import FoundationEssentials
import Glibc
import HearthCore
import TestSupport
import Testing

@testable import HearthStorage

@Suite("Sealing")
struct SealingTests {
  let bench = Bench()
  let key = "/home/me/key"

  private func sealed() async throws {
    let store = bench.store(protection: .passphrase)
    try await store.unlock(passphrase: Secret("open sesame"))
    try await store.write(bench.credential(1))
  }

  private func reason(_ reading: CredentialReading) -> AccessFailure.Kind? {
    if case .unreadable(let accessFailure) = reading { accessFailure.kind } else { nil }
  }

  @Test("A passphrase seals the grant and opens it in another process, and neither token is in the file")
  func passphrase() async throws {
    try await sealed()
    let text = try #require(bench.files.text(at: bench.defaultPath))
    for word in ["access-1", "refresh-1", #""grant""#, "sesame"] { #expect(!text.contains(word)) }
    for word in [#""protection":"passphrase""#, #""name":"scrypt""#, #""subject":"2482""#] {
      #expect(text.contains(word))
    }
    let store = bench.store(protection: .passphrase)
    #expect(reason(await store.read()) == .passphraseRequired)
    try await store.unlock(passphrase: Secret("open sesame"))
    #expect(await store.read() == .found(bench.credential(1)))
    try await store.write(bench.credential(2))
    #expect(await store.read() == .found(bench.credential(2)))
  }

  @Test(
    "A key file that others may read or write is refused, with what to do",
    arguments: [0o640, 0o604, 0o602] as [UInt32])
  func openKeyFile(mode: UInt32) async throws {
    let text = String(repeating: "k", count: 32)
    bench.files.put(text, at: key)
    try await bench.store(protection: .keyFile, keyFile: key).write(bench.credential(1))
    bench.files.put(text, at: key, mode: mode)
    guard case .unreadable(let failure) = await bench.store(protection: .keyFile, keyFile: key).read() else {
      Issue.record("it is used")
      return
    }
    #expect(failure.kind == .keyUnavailable)
    #expect(
      failure.detail == "other users can read or write the key file (a path of \(key.count) characters); run \"chmod "
        + "go=\" on it")
    // A file that root owns and its group may read.
    for (mode, isOwn) in [(0o400, true), (0o440, false)] as [(UInt32, Bool)] {
      bench.files.put(text, at: key, mode: mode, isOwn: isOwn)
      #expect(await bench.store(protection: .keyFile, keyFile: key).read() == .found(bench.credential(1)))
    }
  }

  @Test("The endpoints that tokens may go to are sealed with the grant: a file with an added one cannot be opened")
  func sealedEndpoints() async throws {
    try await sealed()
    let store = bench.store(protection: .passphrase)
    try await store.unlock(passphrase: Secret("open sesame"))
    var credential = bench.credential(2)
    credential.origins = [.sample]
    try await store.write(credential)
    #expect(await store.read() == .found(credential))
    let text = try #require(bench.files.text(at: bench.defaultPath))
    let own = #""origins":["https://id.example.com""#
    #expect(text.contains(own))
    bench.files.put(text.replacing(own, with: own + #","https://other.example.net""#), at: bench.defaultPath)
    bench.clock.advance(by: .seconds(1))
    if case .found = await store.read() { Issue.record("it was opened") }
  }

  @Test("New keys are made by scrypt with n 2^17, r 8, p 1 and 16 random bytes of salt")
  func freshParameters() {
    let (one, other) = (ScryptParameters.fresh(), ScryptParameters.fresh())
    #expect((one.n, one.r, one.p, one.salt.count) == (131_072, 8, 1, 16))
    #expect(one.salt != other.salt)
  }

  @Test("Keys match the scrypt test vectors of RFC 7914, section 12")
  func vector() async throws {
    let parameters = ScryptParameters(n: 16384, r: 8, p: 1, salt: Data("SodiumChloride".utf8))
    let key = try #require(await parameters.key(from: Secret("pleaseletmein"))?.symmetricKey)
    let digits = key.withUnsafeBytes { bytes in bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) } }
    #expect(digits.joined() == "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2")
  }

  @Test("The cost of a file's key is limited")
  func realCost() async {
    #expect(await ScryptParameters.fresh().key(from: Secret("open sesame")) != nil)
  }

  @Test("A wrong passphrase is refused, and each next attempt has to wait longer, up to a minute")
  func wrongPassphrase() async throws {
    try await sealed()
    let store = bench.store(protection: .passphrase)
    for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
      await #expect(throws: Failure.wrongPassphrase(.sample)) { try await store.unlock(passphrase: Secret("open")) }
      await #expect(throws: Failure.tooManyPassphrases(.sample, .seconds(seconds))) {
        try await store.unlock(passphrase: Secret("open sesame"))
      }
      bench.clock.advance(by: .seconds(seconds))
    }
    #expect(reason(await store.read()) == .passphraseRequired)
    try await store.unlock(passphrase: Secret("open sesame"))
    #expect(await store.read() == .found(bench.credential(1)))
    await #expect(throws: Failure.wrongPassphrase(.sample)) { try await store.unlock(passphrase: Secret("")) }
    await #expect(throws: Failure.tooManyPassphrases(.sample, .seconds(1))) {
      try await store.unlock(passphrase: Secret(""))
    }
  }

  @Test("The next attempt does not wait longer because a clock is set back")
  func wrongPassphraseWhenTheClockIsSetBack() async throws {
    try await sealed()
    let store = bench.store(protection: .passphrase)
    await #expect(throws: Failure.wrongPassphrase(.sample)) { try await store.unlock(passphrase: Secret("open")) }
    bench.clock.step(by: .zero - .seconds(36_000))
    await #expect(throws: Failure.tooManyPassphrases(.sample, .seconds(1))) {
      try await store.unlock(passphrase: Secret("open sesame"))
    }
    bench.clock.advance(by: .seconds(1))
    try await store.unlock(passphrase: Secret("open sesame"))
  }

  @Test("A lock forgets the key; then nothing can be prepared or written, and the file stays")
  func lock() async throws {
    try await sealed()
    let store = bench.store(protection: .passphrase)
    try await store.unlock(passphrase: Secret("open sesame"))
    let text = bench.files.text(at: bench.defaultPath)
    await store.lock()
    #expect(reason(await store.read()) == .passphraseRequired)
    await #expect(throws: AccessFailure.self) { try await store.prepare() }
    await #expect(throws: AccessFailure.self) { try await store.write(bench.credential(2)) }
    #expect(bench.files.text(at: bench.defaultPath) == text)
  }

  @Test("A wiped key is gone for everyone who still holds it")
  func wiped() async throws {
    let key = try #require(SealingKey(SymmetricKey(size: .bits256)))
    #expect(key.symmetricKey != nil)
    key.wipe()
    #expect(key.symmetricKey == nil)
    #expect(key.seal([1], associated: []) == nil)
  }

  @Test("A key is in memory that is locked, left out of core dumps and wiped in a fork (proc(5), VmFlags)")
  func lockedMemory() throws {
    let key = try #require(SealingKey(SymmetricKey(size: .bits256)))
    let maps = try #require(fopen("/proc/self/smaps", "r"))
    defer { fclose(maps) }
    var isThere = false
    var buffer = [CChar](repeating: 0, count: 4096)
    while fgets(&buffer, Int32(buffer.count), maps) != nil {
      let words = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(
        separator: " ")
      if words.first == "VmFlags:", Set(["lo", "dd", "wf"]).isSubset(of: words) { isThere = true }
    }
    #expect(isThere)
    key.wipe()
  }

  @Test("Before anything is sealed the passphrase must be set; without one the provider is not asked")
  func passphraseFirst() async throws {
    let store = bench.store(protection: .passphrase)
    #expect(await store.read() == .neverSignedIn)
    #expect(await store.needsPassphrase())
    await #expect(throws: AccessFailure.self) { try await store.prepare() }
    await #expect(throws: Failure.wrongPassphrase(.sample)) { try await store.unlock(passphrase: Secret("")) }
    try await store.unlock(passphrase: Secret("open sesame"))
    #expect(await !store.needsPassphrase())
    try await store.prepare()
    await store.lock()
    #expect(await store.needsPassphrase())
    #expect(await !bench.store().needsPassphrase())
  }

  @Test("Without a passphrase in configuration or file there is nothing to unlock")
  func notSealed() async throws {
    try await bench.store().write(bench.credential(1))
    #expect(try await !bench.store().unlock(passphrase: Secret("open")))
  }

  @Test("A passphrase cannot be set while the place is away")
  func unlockWhileAway() async throws {
    let store = bench.store(at: bench.configuredPath, protection: .passphrase)
    try await store.unlock(passphrase: Secret("open sesame"))
    try await store.write(bench.credential(1))
    bench.files.unmount(Bench.secure)
    let error = await #expect(throws: Failure.self) {
      try await bench.store(at: bench.configuredPath, protection: .passphrase).unlock(passphrase: Secret("other"))
    }
    #expect(error?.kind == .locked && error?.message.contains("cannot be read now") == true)
  }

  @Test(
    "Changes to the fields around the seal are noticed",
    arguments: [
      (#""subject":"2482""#, #""subject":"2483""#), (#""origin":"https://id.example.com""#, #""origin":"https://x""#),
      (#""issuer":"https://id.example.com""#, #""issuer":"https://x""#), (#""account":"work","#, ""),
    ])
  func associatedData(old: String, new: String) async throws {
    let store = bench.store(protection: .passphrase)
    try await store.unlock(passphrase: Secret("open sesame"))
    try await store.write(bench.credential(1))
    let text = try #require(bench.files.text(at: bench.defaultPath))
    #expect(text.contains(old))
    bench.files.put(text.replacing(old, with: new), at: bench.defaultPath)
    #expect(await store.read() == .corrupt("its sealed content is damaged"))
  }

  @Test("The associated data distinguishes fields")
  func associatedDataIsFramed() {
    let one = CredentialFile.Header(account: "a", issuer: "b", origin: nil, subject: "", protection: "key-file")
    let other = CredentialFile.Header(account: "a", issuer: "b", origin: "", subject: nil, protection: "key-file")
    #expect(one.associatedData(kdf: nil) != other.associatedData(kdf: nil))
  }

  @Test("A key file seals and opens without a person")
  func keyFile() async throws {
    bench.files.put(String(repeating: "k", count: 40), at: key)
    try await bench.store(protection: .keyFile, keyFile: key).write(bench.credential(1))
    let text = try #require(bench.files.text(at: bench.defaultPath))
    #expect(!text.contains("access-1") && !text.contains("kdf") && text.contains(#""protection":"key-file""#))
    #expect(await bench.store(protection: .keyFile, keyFile: key).read() == .found(bench.credential(1)))
  }

  @Test("A key file that is away, too short, replaced or not named loses nothing", arguments: [nil, "short", "other"])
  func keyFileAway(contents: String?) async throws {
    bench.files.put(String(repeating: "k", count: 32), at: key)
    let store = bench.store(protection: .keyFile, keyFile: key)
    try await store.write(bench.credential(1))
    bench.files.delete(key)
    if let contents {
      bench.files.put(contents == "short" ? "k" : String(repeating: "o", count: 32), at: key)
    }
    #expect(reason(await store.read()) == .keyUnavailable)
    #expect(reason(await bench.store(protection: .keyFile).read()) == .keyUnavailable)
    await #expect(throws: AccessFailure.self) { try await store.prepare() }
    await #expect(throws: AccessFailure.self) { try await store.write(bench.credential(2)) }
    bench.files.put(String(repeating: "k", count: 32), at: key)
    #expect(await store.read() == .found(bench.credential(1)))
  }

  @Test("The Secret Service is not supported yet, and the error says so")
  func secretService() async throws {
    let store = bench.store(protection: .secretService)
    await #expect(
      throws: AccessFailure(
        .keyUnavailable, detail: "protection \"secret-service\" is not available in this version")
    ) { try await store.prepare() }
    try await bench.store().write(bench.credential(1))
    bench.files.put(
      #"{"version":1,"account":"work","protection":"secret-service","sealed":"AAAA"}"#, at: bench.defaultPath)
    #expect(reason(await store.read()) == .keyUnavailable)
  }

  @Test("An end is written without a key if no sealed grant is lost by it, and never over one that cannot be opened")
  func end() async throws {
    try await sealed()
    let text = bench.files.text(at: bench.defaultPath)
    let locked = bench.store(protection: .passphrase)
    await #expect(throws: EndNotWritten.self) { try await locked.writeEnd(bench.end(.refreshTokenRejected)) }
    #expect(bench.files.text(at: bench.defaultPath) == text)
    #expect(try await bench.store(protection: .passphrase).remembered().end == bench.end(.refreshTokenRejected))
    try await locked.unlock(passphrase: Secret("open sesame"))
    #expect(await locked.read() == .ended(bench.end(.refreshTokenRejected)))
    await locked.lock()
    #expect(await locked.read() == .ended(bench.end(.refreshTokenRejected)))
  }
}
