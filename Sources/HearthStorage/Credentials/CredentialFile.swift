import FoundationEssentials
import HearthCore

/// The contents of a credential file: a header, and a grant, a sealed grant or the end of the session.
struct CredentialFile: Sendable {
  static let version = 1

  /// The unencrypted fields of a credential file.
  struct Header: Codable, Hashable, Sendable {
    var account: String?
    var issuer: String?
    /// True if `issuer` is only an assumption, because the provider has not named the user's issuer. Never written as
    /// false.
    var isIssuerAssumed: Bool?
    var origin: String?
    /// The origins to which tokens can be sent, or `nil` if they are unknown, as in files from older versions.
    var origins: [String]?
    var subject: String?
    /// The raw value of a `Protection`, or `nil` if the file does not contain the field.
    var protection: String?

    enum CodingKeys: String, CodingKey {
      case account, issuer, origin, origins, subject, protection
      case isIssuerAssumed = "issuerAssumed"
    }
  }

  enum Body: Hashable, Sendable {
    case grant(Grant)
    /// The nonce, ciphertext and tag, with the parameters of the key derivation, or `nil` if the key does not come from
    /// a passphrase.
    case sealed([UInt8], kdf: ScryptParameters?)
    case ended(EndRecord)
  }

  var header: Header
  var body: Body

  /// The user, or `nil` if the subject or issuer is missing.
  var subject: Subject? {
    guard let issuer = header.issuer, let id = header.subject else { return nil }
    // Older versions did not write this field. If the provider had not named an issuer, they wrote the token endpoint's
    // origin as the issuer.
    let isAssumed = header.isIssuerAssumed ?? (header.origin == issuer)
    return Subject(issuer: issuer, id: id, isIssuerAssumed: isAssumed)
  }

  func credential(with grant: Grant) -> Credential {
    Credential(
      grant: grant, subject: subject, origin: header.origin.flatMap { try? HTTPURL($0) }?.origin,
      origins: header.origins.map { Set($0.compactMap { try? HTTPURL($0) }.map(\.origin)) })
  }
}

extension CredentialFile.Header {
  init(account: AccountName, subject: Subject?, origin: Origin?, origins: Set<Origin>? = nil, protection: Protection) {
    self.init(
      account: account.description, issuer: subject?.issuer,
      isIssuerAssumed: subject?.isIssuerAssumed == true ? true : nil, origin: origin?.description,
      origins: origins?.map(\.description).sorted(), subject: subject?.id, protection: protection.rawValue)
  }

  /// Returns the data that the seal authenticates. Each field except `sealed` contributes its name, then 0 if the field
  /// is missing, or 1 and its text. If `issuerAssumed` or `origins` is missing, it contributes nothing. Names and texts
  /// are preceded by their length in bytes (32 bits, big-endian).
  func associatedData(kdf: ScryptParameters?) -> [UInt8] {
    var fields: [(String, String?)] = [
      ("version", String(CredentialFile.version)), ("account", account), ("issuer", issuer), ("origin", origin),
      ("subject", subject), ("protection", protection), ("kdf.name", kdf?.name),
      ("kdf.n", kdf.map { String($0.n) }), ("kdf.r", kdf.map { String($0.r) }), ("kdf.p", kdf.map { String($0.p) }),
      ("kdf.salt", kdf?.salt.base64EncodedString()),
    ]
    // Older versions did not write these fields, so the seals of their files do not cover the fields.
    if isIssuerAssumed == true { fields.append(("issuerAssumed", "true")) }
    if let origins { fields.append(("origins", origins.joined(separator: " "))) }
    func framed(_ text: String) -> [UInt8] {
      withUnsafeBytes(of: UInt32(text.utf8.count).bigEndian, Array.init) + Array(text.utf8)
    }
    return fields.flatMap { name, text in framed(name) + (text.map { [1] + framed($0) } ?? [0]) }
  }
}

extension CredentialFile {
  /// Reads a file. `modified` is the file's modification time, used if the grant does not contain the time of issue.
  init(_ bytes: [UInt8], account: AccountName, modified: Timestamp) throws(FileFormatError) {
    self = try FileFormat.decode(Self.self, version: Self.version, from: bytes, modified: modified)
    guard header.account == nil || header.account == account.description else {
      throw .corrupt("it belongs to another account")
    }
    for origin in [header.origin].compactMap(\.self) + (header.origins ?? []) {
      if (try? HTTPURL(origin)) == nil { throw .corrupt("its origin is not a URL") }
    }
  }

  var bytes: [UInt8] {
    FileFormat.encode(self) + [UInt8(ascii: "\n")]
  }

  /// Returns the plaintext form of a grant, to be sealed.
  static func bytes(of grant: Grant) -> [UInt8] { FileFormat.encode(GrantDocument(grant)) }

  static func grant(from plaintext: [UInt8], modified: Timestamp) throws -> Grant {
    try FileFormat.decode(GrantDocument.self, from: plaintext, modified: modified).grant
  }
}
