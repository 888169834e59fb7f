import HearthControl
import HearthCore
import TestSupport

@testable import HearthOAuth
@testable import HearthStorage
@testable import hearthd

/// A parser of bytes from untrusted sources. Each target reads any bytes without crashing, and its results are
/// consistent.
package enum FuzzTarget: String, CaseIterable, Sendable {
  case json, framer, toml, credential, response, jwt, rows, idtoken, signin, calls, netrc

  /// A mistake of a target, as a sentence.
  package struct Wrong: Error, CustomStringConvertible {
    package let description: String
  }

  package func run(_ bytes: [UInt8]) async throws {
    switch self {
    case .json: try Self.readJSON(bytes)
    case .framer: try Self.readLines(bytes)
    case .toml: Self.readConfiguration(bytes)
    case .credential: try Self.readCredential(bytes)
    case .response: try Self.readResponse(bytes)
    case .jwt: Self.readToken(bytes)
    case .rows: StoredRowTarget.read(bytes)
    case .idtoken: try await Self.readIDToken(bytes)
    case .signin: try Self.readSignIn(bytes)
    case .calls: try await Self.answerCalls(bytes)
    case .netrc: try Self.editNetrc(bytes)
    }
  }

  static func expect(_ fact: Bool, _ sentence: @autoclosure () -> String) throws {
    guard fact else { throw Wrong(description: sentence()) }
  }

  /// Edits a user's netrc file. The account's lines come first, and all other lines stay unchanged.
  private static func editNetrc(_ bytes: [UInt8]) throws {
    let text = NetrcText(bytes)
    let rest = text.without(.sample)
    guard let entry = NetrcText.Entry(host: "x.example.com", login: "ada", password: Secret("token")),
      let changed = try? text.with([entry], of: .sample)
    else { return }
    try expect(
      changed.count > rest.count && changed.suffix(rest.count).elementsEqual(rest), "Other lines have changed.")
  }

  /// A line from a client. JSON stays the same when it is written and read again.
  private static func readJSON(_ bytes: [UInt8]) throws {
    _ = Incoming(line: bytes)
    guard let json = try? JSON(parsing: bytes) else { return }
    let written = json.bytes
    try expect((try? JSON(parsing: written)) == json, "JSON changes when it is written and read again.")
    try expect(!written.contains(UInt8(ascii: "\n")), "JSON that is written holds a line's end.")
  }

  /// The first bytes say how to split the rest. The lines do not depend on that.
  private static func readLines(_ bytes: [UInt8]) throws {
    let sizes = bytes.prefix(8).map { Int($0 % 16) + 1 }
    let stream = Array(bytes.dropFirst(8))
    let limit = 24
    var whole = LineFramer(limit: limit)
    whole.push(stream)
    let expected = lines(&whole)
    var cut = LineFramer(limit: limit)
    var found: [[UInt8]] = []
    var isTooLong = false
    var rest = stream[...]
    var turn = 0
    while !rest.isEmpty, !isTooLong {
      let count = sizes.isEmpty ? 1 : sizes[turn % sizes.count]
      turn += 1
      cut.push(rest.prefix(count))
      rest = rest.dropFirst(count)
      let next = lines(&cut)
      found += next.lines
      isTooLong = next.isTooLong
    }
    try expect(found == expected.lines, "The lines depend on how the bytes come in.")
    try expect(isTooLong == expected.isTooLong, "Whether a line is too long depends on how the bytes come in.")
    try expect(found.allSatisfy { $0.count <= limit }, "A line is longer than the limit.")
  }

  private static func lines(_ framer: inout LineFramer) -> (lines: [[UInt8]], isTooLong: Bool) {
    var lines: [[UInt8]] = []
    do {
      while let line = try framer.next() { lines.append(line) }
      return (lines, false)
    } catch {
      return (lines, true)
    }
  }

  private static func readConfiguration(_ bytes: [UInt8]) {
    _ = try? Configuration(
      text: String(decoding: bytes, as: UTF8.self), file: "config.toml", roots: PathRoots(),
      proxies: ProxyEnvironment([:]))
  }

  /// A credential file. A readable one stays the same when it is written and read again.
  private static func readCredential(_ bytes: [UInt8]) throws {
    guard let account = AccountName("work"), let file = credential(bytes, account) else { return }
    let again = credential(file.bytes, account)
    try expect(again?.header == file.header, "The header of a credential file changes when it is written.")
    switch (file.body, again?.body) {
    // Times are written in milliseconds, and a grant without a time of issue gets the file's time.
    case (.grant(let grant), .grant(let other)?):
      try expect(grant.tokens == other.tokens, "The tokens of a credential file change when it is written.")
    case (.sealed(let sealed, let kdf), .sealed(let other, let otherKDF)?):
      try expect((sealed, kdf) == (other, otherKDF), "The sealed part of a credential file changes when it is written.")
    case (.ended(let record), .ended(let other)?):
      try expect(record.reason == other.reason, "The end in a credential file changes when it is written.")
    case (.grant, _), (.sealed, _), (.ended, _):
      throw Wrong(description: "A credential file that is written again is another one.")
    }
  }

  private static func credential(_ bytes: [UInt8], _ account: AccountName) -> CredentialFile? {
    try? CredentialFile(bytes, account: account, modified: Timestamp(milliseconds: 1_700_000_000_000))
  }

  private static func readToken(_ bytes: [UInt8]) {
    let claims = JWTClaims(String(decoding: bytes, as: UTF8.self))
    _ = claims?.areFor(["hearth"])
  }
}
