import HearthCore
import HearthHashing
import HearthStorage
import TestSupport
import Testing

@Suite("The format of the credential file")
struct CredentialFileTests {
  let bench = Bench()

  private func read(_ text: String) async -> CredentialReading {
    bench.files.addFolder(Bench.state)
    bench.files.addFolder(Bench.state + "/credentials")
    bench.files.put(text, at: bench.defaultPath)
    bench.clock.advance(by: .seconds(1))
    return await bench.store().read()
  }

  @Test("A grant is written as the contract says, with missing fields as null")
  func grantForm() async throws {
    try await bench.store().write(bench.credential(1))
    #expect(
      bench.files.text(at: bench.defaultPath) == """
        {"account":"work","grant":{"accessToken":"access-1","expiresAt":"2026-11-21T11:00:00.000Z","idToken":null,\
        "issuedAt":"2026-11-21T10:00:00.000Z","refreshExpiresAt":null,"refreshToken":"refresh-1","scope":"openid",\
        "tokenType":"Bearer"},"issuer":"https://id.example.com","origin":"https://id.example.com",\
        "protection":"none","subject":"2482","version":1}

        """)
    #expect(bench.files.mode(at: bench.defaultPath) == 0o600)
  }

  @Test("A file with a byte order mark and CR LF from another program is read")
  func otherEditors() async throws {
    let grant = """
      {"version":1,"account":"work","issuer":"https://id.example.com","subject":"2482","protection":"none",
      "origin":"https://id.example.com","grant":{"accessToken":"access-1","refreshToken":"refresh-1",
      "tokenType":"Bearer","issuedAt":"2026-11-21T10:00:00.000Z","expiresAt":"2026-11-21T11:00:00.000Z"}}

      """
    let reading = await read("\u{FEFF}" + grant.replacing("\n", with: "\r\n"))
    guard case .found(_, .current) = reading else { throw Unexpected(reading: "\(reading)") }
  }

  private struct Unexpected: Error { let reading: String }

  @Test("An end is written over the grant, without secrets")
  func endForm() async throws {
    let store = bench.store()
    try await store.write(bench.credential(1))
    try await store.writeEnd(bench.end(.refreshTokenRejected, fingerprint: Fingerprint("9f86d081")))
    #expect(
      bench.files.text(at: bench.defaultPath) == """
        {"account":"work","ended":{"at":"2026-11-21T10:00:00.000Z","fingerprint":"9f86d081",\
        "reason":"refreshTokenRejected"},"issuer":"https://id.example.com","origin":"https://id.example.com",\
        "protection":"none","subject":"2482","version":1}

        """)
  }

  @Test("What is written is read back")
  func roundTrip() async throws {
    var credential = bench.credential(1)
    credential.grant.idToken = Token(hashing: Secret("id"))
    credential.grant.refreshExpiresAt = Timestamp(rfc3339: "2027-01-01T00:00:00Z")
    credential.grant.tokenType = "DPoP"
    credential.grant.scope = "\"quoted\" é"
    credential.origins = [try HTTPURL("https://revoke.example.com:8443/").origin, .sample]
    try await bench.store().write(credential)
    #expect(await bench.store().read() == .found(credential))
    let text = try #require(bench.files.text(at: bench.defaultPath))
    #expect(text.contains(#""origins":["https://id.example.com","https://revoke.example.com:8443"]"#))
  }

  @Test("Endpoints that are not URLs make a file corrupt")
  func badOrigins() async {
    let text = bench.text(1).replacing(
      #""origin":"#, with: #""origins":["https://id.example.com","nowhere"],"origin":"#)
    guard case .corrupt? = Optional(await read(text)) else {
      Issue.record("it was read")
      return
    }
  }

  @Test("A file of a newer version is distinguished from a corrupt one, whatever else is in it")
  func newerVersion() async {
    #expect(await read(#"{"version":2,"account":7,"treasure":{}}"#) == .tooNew(version: 2))
  }

  @Test(
    "A malformed file is corrupt, and the text says why",
    arguments: [
      ("", "it is not JSON"),
      ("\u{0}\u{0}\u{0}", "it is not JSON"),
      (#"{"version":1,"account":"work","grant":{"accessTok"#, "it is not JSON"),
      (#"{"account":"work","grant":{"accessToken":"secret"}}"#, #"its field "version" is missing"#),
      (#"{"version":"1","grant":{"accessToken":"secret"}}"#, #"its field "version" has the wrong type"#),
      (#"{"version":0,"grant":{"accessToken":"secret"}}"#, "its version is unknown"),
      (#"{"version":1,"account":"home","grant":{"accessToken":"secret"}}"#, "it belongs to another account"),
      (#"{"version":1,"account":"work"}"#, "it contains no grant"),
      (#"{"version":1,"grant":{"accessToken":""}}"#, "it contains no token"),
      (#"{"version":1,"grant":{"accessToken":7}}"#, #"its field "grant.accessToken" has the wrong type"#),
      (
        #"{"version":1,"grant":{"accessToken":"secret","expiresAt":"soon"}}"#,
        #"its field "grant.expiresAt" is not a time"#
      ),
      (
        #"{"version":1,"grant":{"accessToken":"a\r\nX: y"}}"#,
        #"its field "grant.accessToken" contains invalid characters"#
      ),
      (
        #"{"version":1,"grant":{"accessToken":"a","tokenType":"Bearer x\r\nX:"}}"#,
        #"its field "grant.tokenType" contains invalid characters"#
      ),
      (
        #"{"version":1,"grant":{"accessToken":"a","idToken":"a b"}}"#,
        #"its field "grant.idToken" contains invalid characters"#
      ),
      (
        #"{"version":1,"grant":{"accessToken":"a","refreshToken":"a\u0000"}}"#,
        #"its field "grant.refreshToken" contains invalid characters"#
      ),
      (#"{"version":1,"origin":"id.example.com","grant":{"accessToken":"secret"}}"#, "its origin is not a URL"),
      (
        #"{"version":1,"grant":{"accessToken":"secret"},"ended":{"reason":"signedOut","at":"2026-11-21T10:00:00Z"}}"#,
        "it contains more than one of grant, sealed and ended"
      ),
      (
        #"{"version":1,"ended":{"reason":"boredom","at":"2026-11-21T10:00:00Z"}}"#, #"its field "ended" is malformed"#
      ),
      (#"{"version":1,"sealed":"AAAA"}"#, "it is sealed, but does not name its protection"),
      (#"{"version":1,"protection":"passphrase","sealed":"AAAA"}"#, #"its field "kdf" is missing"#),
      (
        #"{"version":1,"protection":"passphrase","sealed":"AAAA","#
          + #""kdf":{"name":"scrypt","n":1073741824,"r":8,"p":1,"salt":"AAAAAAAAAAAAAAAAAAAAAA=="}}"#,
        "its field \"kdf\" has parameters that are out of range"
      ),
      (
        #"{"version":1,"protection":"passphrase","sealed":"AAAA","#
          + #""kdf":{"name":"scrypt","n":16384,"r":8,"p":1,"salt":"~"}}"#,
        #"its field "kdf.salt" is malformed"#
      ),
      (
        #"{"version":1,"protection":"passphrase","sealed":"AAAA","#
          + #""kdf":{"name":"bcrypt","n":16384,"r":8,"p":1,"salt":"AAAAAAAAAAAAAAAAAAAAAA=="}}"#,
        "its field \"kdf\" names an unknown algorithm"
      ),
    ])
  func corrupt(text: String, reason: String) async {
    #expect(await read(text) == .corrupt(reason))
  }

  @Test(
    "An assumed issuer is marked, also if sealed; unmarked, it is assumed if it is the token endpoint's origin",
    arguments: [Protection.none, .keyFile])
  func assumedIssuer(protection: Protection) async throws {
    bench.files.put(String(repeating: "k", count: 32), at: "/home/me/key")
    let keyFile = protection == .keyFile ? "/home/me/key" : nil
    for (issuer, isAssumed) in [("https://id.example.com", true), ("https://login.example.com", false)] {
      var credential = bench.credential(1)
      credential.subject = Subject(issuer: issuer, id: "2482", isIssuerAssumed: isAssumed)
      try await bench.store(protection: protection, keyFile: keyFile).write(credential)
      let reading = await bench.store(protection: protection, keyFile: keyFile).read()
      guard case .found(let read, .current) = reading else { throw UnexpectedReading(reading) }
      #expect(read.subject?.isIssuerAssumed == isAssumed)
      #expect(try await bench.store().remembered().subject?.isIssuerAssumed == isAssumed)
    }
    let unmarked = await read(bench.text(1))
    guard case .found(let older, .current) = unmarked else { throw UnexpectedReading(unmarked) }
    #expect(older.subject?.isIssuerAssumed == true)
    let reading = await read(bench.text(1).replacing(#""issuer":"https://id"#, with: #""issuer":"https://login"#))
    guard case .found(let read, .current) = reading else { throw UnexpectedReading(reading) }
    #expect(read.subject?.isIssuerAssumed == false)
  }

  @Test("Unknown fields are ignored")
  func unknownFields() async {
    let text = bench.text(1).replacing(#""version":1"#, with: #""version":1,"note":{"by":"me"}"#)
    #expect(await read(text) == .found(bench.credential(1)))
  }

  @Test("A file with only an access token is a grant that was issued when the file was written")
  func accessTokenAlone() async {
    let grant = Grant(accessToken: Token(hashing: Secret("a")), issuedAt: bench.clock.now(), expiresAt: nil)
    #expect(
      await read(#"{"version":1,"grant":{"accessToken":"a"}}"#)
        == .found(Credential(grant: grant, subject: nil, origin: nil)))
  }

  @Test("A file with only a refresh token is an expired grant, with the refresh token's fingerprint")
  func refreshTokenAlone() async throws {
    let now = bench.clock.now()
    let reading = await read(#"{"version":1,"grant":{"refreshToken":"r"}}"#)
    guard case .found(let credential, .current) = reading else { throw UnexpectedReading(reading) }
    #expect(credential.grant.accessToken.secret.isEmpty)
    #expect(credential.grant.accessToken.fingerprint == Token(hashing: Secret("r")).fingerprint)
    #expect(credential.grant.refreshToken == Token(hashing: Secret("r")))
    #expect(credential.grant.expiresAt == now)
    try await bench.store().write(credential)
    #expect(await bench.store().read() == .found(credential))
  }

  @Test("A fingerprint is the first 8 hex digits of the SHA-256")
  func fingerprint() {
    #expect(Token(hashing: Secret("test")).fingerprint.description == "9f86d081")
  }
}

struct UnexpectedReading: Error {
  let reading: CredentialReading

  init(_ reading: CredentialReading) {
    self.reading = reading
  }
}
