import HearthCore
import HearthHashing
import Logging
import TestSupport
import Testing

@testable import HearthStorage

@Suite("Pending revocations on disk")
struct FileRevocationStoreTests {
  private let files = MemoryFileSystem(folders: ["/state", "/keys"], now: { .sample })
  private let folder = "/state/revocations"

  private var store: FileRevocationStore {
    FileRevocationStore(
      folder: folder, files: files, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
  }

  private func pending(
    _ number: Int = 1, _ keeping: PendingRevocation.Keeping = .ownKey
  ) -> PendingRevocation {
    var credential = Credential.sample(number, issuedAt: .sample)
    credential.grant.accessToken = Token(hashing: Secret("access-\(number)"))
    credential.grant.refreshToken = Token(hashing: Secret("refresh-\(number)"))
    credential.origins = [.sample]
    return PendingRevocation(of: credential, .sample, id: "note\(number)", keeping: keeping, at: .sample)
  }

  private func text(_ number: Int = 1) -> String? { files.text(at: "\(folder)/note\(number).json") }

  @Test("a revocation is there unchanged after a restart, and neither token can be read in the folder")
  func kept() async throws {
    try await store.keep(pending(1))
    try await store.keep(pending(2))
    #expect(await store.recall(at: .sample) == [pending(1), pending(2)])
    for name in files.fileNames where name.hasPrefix(folder) {
      #expect(files.mode(at: name) == 0o600)
      let text = files.text(at: name) ?? ""
      #expect(!text.contains("access-") && !text.contains("refresh-"), "\(name)")
    }
    #expect(text()?.contains(#""subject":"2482""#) == true)
  }

  @Test("a finished revocation leaves no file, and the key is removed with the last one")
  func removed() async throws {
    try await store.keep(pending(1))
    try await store.keep(pending(2))
    await store.remove(pending(1))
    #expect(await store.recall(at: .sample) == [pending(2)])
    await store.remove(pending(2))
    #expect(!files.fileNames.contains { $0.hasPrefix(folder) })
    await store.remove(pending(3, .memory))
  }

  @Test("the account's key file still opens what it sealed, and no other key is created")
  func keyFile() async throws {
    files.put(String(repeating: "k", count: 32), at: "/keys/work")
    try await store.keep(pending(1, .keyFile("/keys/work")))
    #expect(files.text(at: folder + "/key") == nil)
    #expect(await store.recall(at: .sample) == [pending(1, .keyFile("/keys/work"))])
    files.delete("/keys/work")
    #expect(await store.recall(at: .sample) == [], "without the key it cannot be used")
    #expect(text() != nil, "and stays")
  }

  @Test("another key, or another place for the tokens in the file, opens nothing")
  func tampered() async throws {
    try await store.keep(pending())
    let written = try #require(text())
    let elsewhere = written.replacing("id.example.com", with: "evil.example.com")
    #expect(elsewhere != written)
    files.put(elsewhere, at: "\(folder)/note1.json")
    #expect(await store.recall(at: .sample) == [])
    files.put(written, at: "\(folder)/note1.json")
    files.put(String(repeating: "k", count: 32), at: folder + "/key")
    #expect(await store.recall(at: .sample) == [])
  }

  @Test(
    "what seems to have expired stays, as this clock may be wrong; a file that cannot be understood is then removed")
  func expired() async throws {
    try await store.keep(pending())
    files.put("{", at: folder + "/odd.json")
    let end = Timestamp.sample + PendingRevocation.longest
    #expect(await store.recall(at: end - .milliseconds(1)) == [pending()])
    #expect(files.text(at: folder + "/odd.json") == "{")
    #expect(await store.recall(at: end) == [pending()])
    #expect(files.text(at: folder + "/odd.json") == nil)
  }

  @Test("a failed write is reported")
  func unwritable() async throws {
    files.failAll(under: "/state", with: .noSpace)
    await #expect(throws: AccessFailure.self) { try await store.keep(pending()) }
  }
}
