import FoundationEssentials
import HearthCore

/// What stands in a credential file: whose it is, and a grant, a sealed grant or the end of the session.
struct CredentialFile: Sendable {
  static let version = 1

  /// The fields around the grant, as they stand in the file.
  struct Header: Hashable, Sendable {
    var account: String?
    var issuer: String?
    /// True where the provider has told no issuer, and the origin stands in for one; nil where the file does not say.
    var isIssuerAssumed: Bool?
    var origin: String?
    var subject: String?
    var protection: String
  }

  struct Sealed: Hashable, Sendable {
    /// With a passphrase only.
    var kdf: ScryptParameters?
    /// Nonce, ciphertext and tag.
    var bytes: [UInt8]
  }

  enum Body: Hashable, Sendable {
    case grant(Grant)
    case sealed(Sealed)
    case ended(EndRecord)
  }

  /// Why a file is none that can be used. Texts are for people and hold nothing of what stands in the file.
  enum Flaw: Error, Hashable {
    case corrupt(String)
    case tooNew(Int)
  }

  var header: Header
  var body: Body

  /// Nil where the file does not say, or not under which issuer.
  var subject: Subject? {
    guard let issuer = header.issuer, let id = header.subject else { return nil }
    // Versions without the mark wrote the origin of the token endpoint where the provider had told no issuer.
    let isAssumed = header.isIssuerAssumed ?? (header.origin == issuer)
    return Subject(issuer: issuer, id: id, isIssuerAssumed: isAssumed)
  }

  var origin: Origin? { header.origin.flatMap { try? HTTPURL($0) }?.origin }

  func credential(with grant: Grant) -> Credential {
    Credential(grant: grant, subject: subject, origin: origin)
  }
}

extension CredentialFile.Header {
  init(account: AccountName, subject: Subject?, origin: Origin?, protection: Protection) {
    self.init(
      account: account.description, issuer: subject?.issuer, isIssuerAssumed: subject?.isIssuerAssumed,
      origin: origin?.description, subject: subject?.id, protection: protection.rawValue)
  }

  /// What a seal is bound to: each field but `sealed` as its name, then 0 where it is absent, or 1 and its text;
  /// name and text each behind their length in bytes (32 bits, big-endian). The order is the one below.
  func associatedData(kdf: ScryptParameters?) -> [UInt8] {
    var fields: [(String, String?)] = [
      ("version", String(CredentialFile.version)), ("account", account), ("issuer", issuer), ("origin", origin),
      ("subject", subject), ("protection", protection), ("kdf.name", kdf.map { _ in "scrypt" }),
      ("kdf.n", kdf.map { String($0.n) }), ("kdf.r", kdf.map { String($0.r) }), ("kdf.p", kdf.map { String($0.p) }),
      ("kdf.salt", kdf.map { Data($0.salt).base64EncodedString() }),
    ]
    // Files without the mark go without the field, as those of versions that did not know it.
    if isIssuerAssumed == true { fields.append(("issuerAssumed", "true")) }
    func framed(_ text: String) -> [UInt8] {
      withUnsafeBytes(of: UInt32(text.utf8.count).bigEndian, Array.init) + Array(text.utf8)
    }
    return fields.flatMap { name, text in framed(name) + (text.map { [1] + framed($0) } ?? [0]) }
  }
}

extension CredentialFile {
  /// Reads a file. `modified`: when it was last written, for a grant that does not say when it was issued.
  init(_ bytes: [UInt8], account: AccountName, modified: Timestamp) throws(Flaw) {
    let data = Data(bytes)
    let version = try Self.decode(CredentialDocument.Version.self, from: data).version
    guard version <= Self.version else { throw .tooNew(version) }
    guard version == Self.version else { throw .corrupt("its version is not a known one") }
    let document = try Self.decode(CredentialDocument.self, from: data)
    guard document.account == nil || document.account == account.description else {
      throw .corrupt("it is another account's")
    }
    if let origin = document.origin, (try? HTTPURL(origin)) == nil { throw .corrupt("its origin is no URL") }
    header = Header(
      account: document.account, issuer: document.issuer, isIssuerAssumed: document.issuerAssumed,
      origin: document.origin,
      subject: document.subject, protection: document.protection ?? Protection.none.rawValue)
    switch (document.grant, document.sealed, document.ended) {
    case (let grant?, nil, nil): body = .grant(try grant.grant(modified: modified))
    case (nil, let sealed?, nil): body = .sealed(try document.sealed(sealed))
    case (nil, nil, let ended?): body = .ended(try ended.record())
    case (nil, nil, nil): throw .corrupt("it holds no grant")
    default: throw .corrupt("it holds more than one of grant, sealed and ended")
    }
  }

  /// Whether a grant is in it, sealed or not.
  var isGrant: Bool {
    switch body {
    case .grant, .sealed: true
    case .ended: false
    }
  }

  var bytes: [UInt8] {
    CredentialDocument(self).json + [UInt8(ascii: "\n")]
  }

  /// The plaintext of a seal.
  static func bytes(of grant: Grant) -> [UInt8] { GrantDocument(grant).json }

  static func grant(from plaintext: [UInt8], modified: Timestamp) throws(Flaw) -> Grant {
    try decode(GrantDocument.self, from: Data(plaintext)).grant(modified: modified)
  }

  static func decode<Document: Decodable>(_ type: Document.Type, from data: Data) throws(Flaw) -> Document {
    do {
      return try JSONDecoder().decode(type, from: data)
    } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
      throw .corrupt("its field \"\(context.path)\" has the wrong type")
    } catch DecodingError.keyNotFound(let key, let context) {
      throw .corrupt("its field \"\((context.path.isEmpty ? "" : context.path + ".") + key.stringValue)\" is missing")
    } catch {
      throw .corrupt("it is no JSON")
    }
  }
}

extension DecodingError.Context {
  /// With the names of fields and accounts alone: what else a file has for a key is its own.
  fileprivate var path: String {
    codingPath.map { AccountName($0.stringValue) == nil ? "…" : $0.stringValue }.joined(separator: ".")
  }
}
