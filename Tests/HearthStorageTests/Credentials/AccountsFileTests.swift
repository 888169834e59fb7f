import HearthCore
import Logging
import TestSupport
import Testing

@testable import HearthStorage

@Suite("accounts.json")
struct AccountsFileTests {
  let bench = Bench()

  private func accounts() -> AccountsFile {
    AccountsFile(
      path: bench.accountsPath, files: bench.files, clock: bench.clock,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  private func known(_ number: Int) -> KnownAccount {
    var known = KnownAccount()
    known.place = KnownAccount.Place(path: "/p/\(number)", marker: "m\(number)")
    known.subject = Subject(issuer: "https://id.example.com", id: "\(number)")
    known.fingerprint = Fingerprint("0000000\(number)")
    known.clock = GrantClock(
      token: Token.sample(number).fingerprint, issuedAt: .sample, boot: "a-boot", stepped: .milliseconds(-1500))
    known.end = bench.end(.refreshTokenRejected, fingerprint: Fingerprint("9f86d081"))
    known.lockedByUser = true
    known.rejected = Fingerprint("0000000b")
    known.removal = KnownAccount.PendingRemoval(fingerprint: Fingerprint("9f86d082"))
    known.formerPlaces = [KnownAccount.FormerPlace(path: "/old/\(number)", fingerprint: nil)]
    known.grants = GrantHistory(
      current: Fingerprint("0000000a"), former: ["00000001", "00000002"].compactMap { Fingerprint($0) },
      over: ["00000003"].compactMap { Fingerprint($0) })
    return known
  }

  @Test("Everything that is remembered is still there after a restart")
  func roundTrip() async throws {
    try await accounts().update(bench.account, to: known(1))
    #expect(try await accounts().known(bench.account) == known(1))
    #expect(bench.files.mode(at: bench.accountsPath) == 0o600)
    #expect(bench.files.mode(at: Bench.state) == 0o700)
  }

  @Test("An account is written with these names, and read back from them")
  func form() async throws {
    var known = known(1)
    known.subject = Subject(issuer: "https://id.example.com", id: "1", isIssuerAssumed: true)
    known.formerPlaces[0].fingerprint = Fingerprint("9f86d083")
    try await accounts().update(bench.account, to: known)
    let text = """
      {"accounts":{"work":{"clock":{"boot":"a-boot","issuedAt":"2026-11-18T11:06:40.000Z",\
      "steppedMilliseconds":-1500,"token":"00000001"},"end":{"at":"2026-11-21T10:00:00.000Z","fingerprint":"9f86d081",\
      "reason":"refreshTokenRejected"},"fingerprint":"00000001","formerGrants":"0000000100000002",\
      "grant":"0000000a","issuer":"https://id.example.com","issuerAssumed":true,"leftovers":[{"fingerprint":"9f86d083","path":"/old/1"}],"lockedByUser":true,\
      "marker":"m1","path":"/p/1","rejected":"0000000b","removal":{"fingerprint":"9f86d082"},"signedOut":"00000003",\
      "subject":"1"}},"version":1}

      """
    #expect(bench.files.text(at: bench.accountsPath) == text)
    #expect(try await accounts().known(bench.account) == known)
  }

  @Test("Unknown values are not written, and an invalid fingerprint is read as nil")
  func sparse() async throws {
    var known = KnownAccount()
    known.removal = KnownAccount.PendingRemoval(fingerprint: nil)
    try await accounts().update(bench.account, to: known)
    let text = #"{"accounts":{"work":{"removal":{}}},"version":1}"# + "\n"
    #expect(bench.files.text(at: bench.accountsPath) == text)
    bench.files.put(
      #"{"version":1,"accounts":{"work":{"fingerprint":"x","path":"/p","removal":{"fingerprint":"y"}}}}"#,
      at: bench.accountsPath)
    #expect(try await accounts().known(bench.account) == known)
  }

  @Test("It contains no token")
  func noSecrets() async throws {
    let store = bench.store()
    try await store.write(bench.credential(1))
    try await store.writeEnd(bench.end(.refreshTokenRejected, fingerprint: bench.grant(1).refreshToken?.fingerprint))
    let text = try #require(bench.files.text(at: bench.accountsPath))
    #expect(!text.contains("access-1") && !text.contains("refresh-1"))
  }

  @Test("Accounts that are written at the same time are not lost")
  func manyAtOnce() async throws {
    let accounts = accounts()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<9 {
        group.addTask { [known = known(number)] in
          try? await accounts.update(AccountName("a\(number)")!, to: known)
        }
      }
    }
    let later = self.accounts()
    for number in 0..<9 { #expect(try await later.known(AccountName("a\(number)")!) == known(number)) }
  }

  @Test("A failed write changes nothing in memory")
  func failedWrite() async throws {
    let accounts = accounts()
    bench.files.fail(.syncFile, at: Bench.state + "/.accounts.json.new", with: .failed("Input/output error"))
    await #expect(throws: AccessFailure.self) { try await accounts.update(bench.account, to: known(1)) }
    #expect(try await accounts.known(bench.account) == KnownAccount())
  }

  @Test("Garbage is set aside, and a newer version's file is left alone")
  func garbage() async throws {
    bench.files.addFolder(Bench.state)
    bench.files.put("garbage", at: bench.accountsPath)
    #expect(try await accounts().known(bench.account) == KnownAccount())
    #expect(bench.files.text(at: bench.accountsPath + ".corrupt-20261121T100000000Z") == "garbage")
    bench.files.put(#"{"version":2}"#, at: bench.accountsPath)
    await #expect(throws: AccessFailure.self) { try await accounts().update(bench.account, to: known(1)) }
    #expect(bench.files.text(at: bench.accountsPath) == #"{"version":2}"#)
  }

  @Test("An unchanged account is not written")
  func unchanged() async throws {
    let accounts = accounts()
    try await accounts.update(bench.account, to: known(1))
    let changes = bench.files.changesMade
    try await accounts.update(bench.account, to: known(1))
    #expect(bench.files.changesMade == changes)
  }

  @Test("If it is lost or cannot be understood, the user's lock still applies, until the user removes it")
  func lostLock() async throws {
    func isLocked() async throws -> Bool { try await bench.store().remembered().lockedByUser }
    func lose(_ rest: String?) {
      if let rest { bench.files.put(rest, at: bench.accountsPath) } else { bench.files.delete(bench.accountsPath) }
    }
    for loss in [nil, "{"] {
      let store = bench.store()
      try await store.write(bench.credential(1))
      try await store.remember(lockedByUser: true)
      lose(loss)
      #expect(try await isLocked())
      #expect(await bench.store().read() == .found(bench.credential(1)))
      #expect(try await isLocked(), "what is read heals it")
      try await bench.store().remember(lockedByUser: false)
      lose(loss)
      #expect(try await !isLocked())
    }
  }

  @Test("A lock that could not be written into the marker is written by the next read, and so is its removal")
  func healsMark() async throws {
    let store = bench.store()
    try await store.write(bench.credential(1))
    let temporary = bench.defaultMarker.replacing("/.hearth", with: "/..hearth") + ".new"
    for isLocked in [true, false] {
      bench.files.fail(.createFile, at: temporary, with: .noSpace)
      try await store.remember(lockedByUser: isLocked)
      bench.files.fail(.createFile, at: temporary, with: nil)
      #expect(bench.files.text(at: bench.defaultMarker)?.hasSuffix("locked\n") != isLocked)
      _ = await store.read()
      #expect(bench.files.text(at: bench.defaultMarker)?.hasSuffix("locked\n") == isLocked)
    }
  }
}
