import FoundationEssentials
import HearthCore

/// The JSON of a credential file, field by field. Fields that are not named here are passed over.
struct CredentialDocument: Codable {
  struct Version: Decodable {
    let version: Int
  }

  struct KDF: Codable {
    let name: String
    let n: Int
    let r: Int
    let p: Int
    let salt: String
  }

  let version: Int
  let account: String?
  let issuer: String?
  /// Written where it is true.
  let issuerAssumed: Bool?
  let origin: String?
  let subject: String?
  let protection: String?
  let kdf: KDF?
  let sealed: String?
  let grant: GrantDocument?
  let ended: EndDocument?

  init(_ file: CredentialFile) {
    version = CredentialFile.version
    account = file.header.account
    issuer = file.header.issuer
    issuerAssumed = file.header.isIssuerAssumed == true ? true : nil
    origin = file.header.origin
    subject = file.header.subject
    protection = file.header.protection
    switch file.body {
    case .grant(let value): (grant, kdf, sealed, ended) = (GrantDocument(value), nil, nil, nil)
    case .sealed(let value):
      (grant, kdf, sealed, ended) = (nil, value.kdf.map(KDF.init), Data(value.bytes).base64EncodedString(), nil)
    case .ended(let value): (grant, kdf, sealed, ended) = (nil, nil, nil, EndDocument(value))
    }
  }

  func sealed(_ text: String) throws(CredentialFile.Flaw) -> CredentialFile.Sealed {
    guard let protection = protection.flatMap(Protection.init), protection != .none else {
      throw .corrupt("it is sealed, and does not say with what")
    }
    guard let bytes = Data(base64Encoded: text) else { throw .corrupt("its seal is no base64") }
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

  fileprivate func parameters() throws(CredentialFile.Flaw) -> ScryptParameters {
    guard name == "scrypt", let salt = Data(base64Encoded: salt) else { throw .corrupt("its kdf is not a known one") }
    let parameters = ScryptParameters(n: n, r: r, p: p, salt: Array(salt))
    guard parameters.areSane else { throw .corrupt("its kdf is out of bounds") }
    return parameters
  }
}

/// The JSON of a grant; moments as RFC 3339.
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

  /// Absent fields are written as null, so that other programs see which there are.
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

  /// A refresh token alone is a grant whose access token has expired when it was issued, so that it is refreshed at
  /// once; it is known by the refresh token's fingerprint.
  func grant(modified: Timestamp) throws(CredentialFile.Flaw) -> Grant {
    try requireForm(accessToken, "accessToken", TokenSyntax.isBearer)
    try requireForm(idToken, "idToken", TokenSyntax.isBearer)
    try requireForm(tokenType, "tokenType", TokenSyntax.isBearer)
    try requireForm(refreshToken, "refreshToken", TokenSyntax.isRefreshToken)
    let access = accessToken.flatMap(Token.init(nonEmpty:))
    let refresh = refreshToken.flatMap(Token.init(nonEmpty:))
    let issuedAt = try moment(issuedAt, "issuedAt") ?? modified
    let expiresAt = try moment(expiresAt, "expiresAt")
    guard let token = access ?? refresh.map({ Token(secret: Secret(""), fingerprint: $0.fingerprint) }) else {
      throw .corrupt("it holds no token")
    }
    return Grant(
      accessToken: token, refreshToken: refresh, idToken: idToken.flatMap(Token.init(nonEmpty:)),
      tokenType: tokenType ?? "Bearer", scope: scope, issuedAt: issuedAt,
      expiresAt: access == nil ? issuedAt : expiresAt,
      refreshExpiresAt: try moment(refreshExpiresAt, "refreshExpiresAt"))
  }

  private func requireForm(
    _ text: String?, _ field: String, _ isInForm: (String) -> Bool
  ) throws(CredentialFile.Flaw) {
    if let text, !isInForm(text) {
      throw .corrupt("its field \"grant.\(field)\" has characters that it cannot have")
    }
  }

  private func moment(_ text: String?, _ field: String) throws(CredentialFile.Flaw) -> Timestamp? {
    guard let text else { return nil }
    guard let moment = Timestamp(rfc3339: text) else { throw .corrupt("its field \"grant.\(field)\" is no time") }
    return moment
  }
}

extension Token {
  fileprivate init?(nonEmpty text: String) {
    guard !text.isEmpty else { return nil }
    self.init(text)
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

  func record(detail: String? = nil) throws(CredentialFile.Flaw) -> EndRecord {
    guard let reason = EndReason(rawValue: reason), let at = Timestamp(rfc3339: at) else {
      throw .corrupt("its field \"ended\" is not in form")
    }
    return EndRecord(reason: reason, at: at, fingerprint: fingerprint.flatMap { Fingerprint($0) }, detail: detail)
  }
}

extension Encodable {
  /// Keys in the order of the alphabet, so that the same value is always the same bytes.
  var json: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(self) else { preconditionFailure("texts and numbers are always JSON") }
    return Array(data)
  }
}
