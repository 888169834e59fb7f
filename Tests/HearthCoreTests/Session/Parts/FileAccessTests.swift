import TestSupport
import Testing

@testable import HearthCore

@Suite("The access to the credential file")
struct FileAccessTests {
  private let credential = Credential.sample(1, issuedAt: .sample)

  @Test("reads the account's memory before the credential")
  func first() {
    var file = FileAccess()
    #expect(!file.isQuiet, "the first read begins with the session")
    #expect(file.beginRead(isRemembered: false) == [.recall])
    #expect(file.wipeKey() == [])
    #expect(file.beginRead(isRemembered: true) == [.read])
    #expect(file.wipeKey() == [.lockStore])
    #expect(file.wipeKey() == [], "it is wiped once")
  }

  @Test("holds no key if the file could not be opened without its passphrase")
  func noKey() {
    var file = FileAccess()
    _ = file.beginRead(isRemembered: true)
    file.readFailed(.sealed, at: .sample)
    #expect(file.wipeKey() == [])
  }

  @Test("counts a write as out of date if the grant has changed since it began")
  func outdated() {
    var (file, random) = (FileAccess(), SeededGenerator(seed: 1))
    _ = file.beginWrite(credential, generation: 0)
    #expect(file.grantWritten(.success(()), at: .sample, &random) == true)
    _ = file.beginWrite(credential, generation: 0)
    file.invalidateWrite()
    #expect(file.grantWritten(.success(()), at: .sample, &random) == false)
    _ = file.beginWrite(credential, generation: 0)
    #expect(file.grantWritten(.failure(.full), at: .sample, &random) == false)
    file.noteContent(GrantMarks(credential.grant))
    for _ in 0..<3 { file.write.end() }
    let unwritten = ActiveGrant(credential: credential, isStored: false, timing: .read)
    #expect(!file.holdsTokens(of: unwritten), "a read is under way")
    file.endRead()
    #expect(file.holdsTokens(of: unwritten))
    let newer = Credential.sample(2, issuedAt: .sample)
    #expect(!file.holdsTokens(of: ActiveGrant(credential: newer, isStored: false, timing: .read)))
  }

  @Test("removes the credential on a sign-out, and writes any other end over the grant")
  func end() {
    var file = FileAccess()
    file.noteContent(GrantMarks(credential.grant))
    let signOut = EndRecord(reason: .signedOut, at: .sample, fingerprint: nil)
    let end = EndRecord(reason: .accountDisabled, at: .sample, fingerprint: nil)
    #expect(file.beginEnd(signOut) == [.remove(signOut, fingerprint: credential.grant.accessToken.fingerprint)])
    #expect(file.beginEnd(end) == [.writeEnd(end)])
    file.write.end()
    #expect(file.write.isUnderWay, "two were begun")
    file.write.end()
    #expect(!file.write.isUnderWay)
  }

  @Test("repeats a write after at most half a second, then ever later up to 30 s, and never during another write")
  func retry() {
    var write = WriteRetry()
    var waits: [Duration] = []
    for _ in 0..<10 {
      write.begin()
      #expect(!write.mayBegin(at: .sample + .seconds(3600)) && write.wakeAt == nil)
      write.end()
      write.failed(.full, at: .sample, share: 0.999)
      waits.append((write.wakeAt ?? .sample) - .sample)
    }
    #expect(waits[0] <= .milliseconds(500) && waits == waits.sorted() && waits[9] <= .seconds(30))
    #expect(write.failures == 10 && write.lastFailure == .full)
    write.retryNow()
    #expect(write.mayBegin(at: .sample))
  }
}
