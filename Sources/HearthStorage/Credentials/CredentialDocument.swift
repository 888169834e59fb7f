import FoundationEssentials
import HearthCore
import HearthHashing

/// The JSON of a credential file. Fields that are not named here are ignored.
struct CredentialDocument: Codable {
  fileprivate struct KDF: Codable {
    let name: String
    let n: Int
    let r: Int
    let p: Int
    let salt: String
  }

  private enum CodingKeys: String, CodingKey {
    case version, kdf, sealed, grant, ended
  }

  let header: CredentialFile.Header
  fileprivate var kdf: KDF?
  private var sealed: String?
  private var grant: GrantDocument?
  private var ended: EndDocument?

  init(_ file: CredentialFile) {
    var header = file.header
    if header.isIssuerAssumed == false { header.isIssuerAssumed = nil }
    self.header = header
    switch file.body {
    case .grant(let value): grant = GrantDocument(value)
    case .sealed(let value):
      kdf = value.kdf.map(KDF.init)
      sealed = Data(value.bytes).base64EncodedString()
    case .ended(let value): ended = EndDocument(value)
    }
  }

  init(from decoder: any Decoder) throws {
    header = try CredentialFile.Header(from: decoder)
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    kdf = try fields.decodeIfPresent(KDF.self, forKey: .kdf)
    sealed = try fields.decodeIfPresent(String.self, forKey: .sealed)
    grant = try fields.decodeIfPresent(GrantDocument.self, forKey: .grant)
    ended = try fields.decodeIfPresent(EndDocument.self, forKey: .ended)
  }

  func encode(to encoder: any Encoder) throws {
    try header.encode(to: encoder)
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(CredentialFile.version, forKey: .version)
    try fields.encodeIfPresent(kdf, forKey: .kdf)
    try fields.encodeIfPresent(sealed, forKey: .sealed)
    try fields.encodeIfPresent(grant, forKey: .grant)
    try fields.encodeIfPresent(ended, forKey: .ended)
  }

  /// `modified` is the time at which the file was last written.
  func body(modified: Timestamp) throws(FileFormatError) -> CredentialFile.Body {
    switch (grant, sealed, ended) {
    case (let grant?, nil, nil): return .grant(try grant.grant(modified: modified))
    case (nil, let sealed?, nil): return .sealed(try body(sealed: sealed))
    case (nil, nil, let ended?): return .ended(try ended.record())
    case (nil, nil, nil): throw .corrupt("it holds no grant")
    default: throw .corrupt("it holds more than one of grant, sealed and ended")
    }
  }

  private func body(sealed: String) throws(FileFormatError) -> CredentialFile.Sealed {
    guard let protection = header.protection.flatMap(Protection.init), protection != .none else {
      throw .corrupt("it is sealed, and does not say with what")
    }
    guard let bytes = Data(base64Encoded: sealed) else { throw .corrupt("its seal is no base64") }
    guard protection == .passphrase else { return CredentialFile.Sealed(kdf: nil, bytes: Array(bytes)) }
    guard let kdf else { throw .corrupt("its field \"kdf\" is missing") }
    return CredentialFile.Sealed(kdf: try kdf.parameters(), bytes: Array(bytes))
  }
}

extension CredentialDocument.KDF {
  fileprivate init(_ parameters: ScryptParameters) {
    self.init(
      name: "scrypt", n: parameters.n, r: parameters.r, p: parameters.p,
      salt: Data(parameters.salt).base64EncodedString())
  }

  fileprivate func parameters() throws(FileFormatError) -> ScryptParameters {
    guard name == "scrypt", let salt = Data(base64Encoded: salt) else { throw .corrupt("its kdf is not a known one") }
    let parameters = ScryptParameters(n: n, r: r, p: p, salt: Array(salt))
    guard parameters.areSane else { throw .corrupt("its kdf is out of bounds") }
    return parameters
  }
}

/// The JSON of a grant; times are written as RFC 3339.
struct GrantDocument: Codable {
  let accessToken: String?
  let refreshToken: String?
  let idToken: String?
  let tokenType: String?
  let scope: String?
  let issuedAt: String?
  let expiresAt: String?
  let refreshExpiresAt: String?

  init(_ grant: Grant) {
    let access = grant.accessToken.secret
    accessToken = access.isEmpty ? nil : access.reveal()
    refreshToken = grant.refreshToken?.secret.reveal()
    idToken = grant.idToken?.secret.reveal()
    tokenType = grant.tokenType
    scope = grant.scope
    issuedAt = grant.issuedAt.description
    expiresAt = grant.expiresAt?.description
    refreshExpiresAt = grant.refreshExpiresAt?.description
  }

  /// Absent fields are written as null, so that other programs see which fields exist.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(accessToken, forKey: .accessToken)
    try container.encode(refreshToken, forKey: .refreshToken)
    try container.encode(idToken, forKey: .idToken)
    try container.encode(tokenType, forKey: .tokenType)
    try container.encode(scope, forKey: .scope)
    try container.encode(issuedAt, forKey: .issuedAt)
    try container.encode(expiresAt, forKey: .expiresAt)
    try container.encode(refreshExpiresAt, forKey: .refreshExpiresAt)
  }

  /// A refresh token alone is a grant whose access token expired when it was issued, so that it is refreshed at once.
  /// Its fingerprint is the refresh token's. `modified` stands in for a missing `issuedAt`.
  func grant(modified: Timestamp) throws(FileFormatError) -> Grant {
    try requireForm(accessToken, "accessToken", TokenSyntax.isBearer)
    try requireForm(idToken, "idToken", TokenSyntax.isBearer)
    try requireForm(tokenType, "tokenType", TokenSyntax.isBearer)
    try requireForm(refreshToken, "refreshToken", TokenSyntax.isRefreshToken)
    let access = accessToken.flatMap(Token.init(nonEmpty:))
    let refresh = refreshToken.flatMap(Token.init(nonEmpty:))
    let issuedAt = try timestamp(issuedAt, "issuedAt") ?? modified
    let expiresAt = try timestamp(expiresAt, "expiresAt")
    guard let token = access ?? refresh.map({ Token(secret: Secret(""), fingerprint: $0.fingerprint) }) else {
      throw .corrupt("it holds no token")
    }
    return Grant(
      accessToken: token, refreshToken: refresh, idToken: idToken.flatMap(Token.init(nonEmpty:)),
      tokenType: tokenType ?? "Bearer", scope: scope, issuedAt: issuedAt,
      expiresAt: access == nil ? issuedAt : expiresAt,
      refreshExpiresAt: try timestamp(refreshExpiresAt, "refreshExpiresAt"))
  }

  private func requireForm(
    _ text: String?, _ field: String, _ isInForm: (String) -> Bool
  ) throws(FileFormatError) {
    if let text, !isInForm(text) {
      throw .corrupt("its field \"grant.\(field)\" has characters that it cannot have")
    }
  }

  private func timestamp(_ text: String?, _ field: String) throws(FileFormatError) -> Timestamp? {
    guard let text else { return nil }
    guard let time = Timestamp(rfc3339: text) else { throw .corrupt("its field \"grant.\(field)\" is no time") }
    return time
  }
}

extension Token {
  fileprivate init?(nonEmpty text: String) {
    guard !text.isEmpty else { return nil }
    self.init(hashing: Secret(text))
  }
}

/// The JSON of the end of a session.
struct EndDocument: Codable {
  let reason: String
  let at: String
  let fingerprint: String?

  init(_ record: EndRecord) {
    reason = record.reason.rawValue
    at = record.at.description
    fingerprint = record.fingerprint?.description
  }

  func record(detail: String? = nil) throws(FileFormatError) -> EndRecord {
    guard let reason = EndReason(rawValue: reason), let at = Timestamp(rfc3339: at) else {
      throw .corrupt("its field \"ended\" is not in form")
    }
    return EndRecord(reason: reason, at: at, fingerprint: fingerprint.flatMap { Fingerprint($0) }, detail: detail)
  }
}
