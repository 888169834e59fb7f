import FoundationEssentials
import HearthCore
import HearthHashing

/// The JSON form of a credential file. Unknown fields are ignored.
extension CredentialFile: Codable {
  private enum CodingKeys: String, CodingKey {
    case version, kdf, sealed, grant, ended
  }

  init(from decoder: any Decoder) throws {
    header = try Header(from: decoder)
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    let kdf = try fields.decodeIfPresent(ScryptParameters.self, forKey: .kdf)
    let grant = try fields.decodeIfPresent(GrantDocument.self, forKey: .grant)
    let sealed = try fields.decodeIfPresent(String.self, forKey: .sealed)
    let ended = try fields.decodeIfPresent(EndDocument.self, forKey: .ended)
    switch (grant, sealed, ended) {
    case (let grant?, nil, nil): body = .grant(grant.grant)
    case (nil, let sealed?, nil): body = try .sealed(sealed, header.protection, kdf)
    case (nil, nil, let ended?): body = .ended(try ended.record())
    case (nil, nil, nil): throw FileFormatError.corrupt("it contains no grant")
    default: throw FileFormatError.corrupt("it contains more than one of grant, sealed and ended")
    }
  }

  func encode(to encoder: any Encoder) throws {
    try header.encode(to: encoder)
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(Self.version, forKey: .version)
    switch body {
    case .grant(let grant): try fields.encode(GrantDocument(grant), forKey: .grant)
    case .sealed(let bytes, let kdf):
      try fields.encodeIfPresent(kdf, forKey: .kdf)
      try fields.encode(Data(bytes).base64EncodedString(), forKey: .sealed)
    case .ended(let record): try fields.encode(EndDocument(record), forKey: .ended)
    }
  }
}

extension CredentialFile.Body {
  /// Reads the Base64 text in `sealed`, and the fields `protection` and `kdf`.
  fileprivate static func sealed(_ text: String, _ protection: String?, _ kdf: ScryptParameters?) throws -> Self {
    guard let protection = protection.flatMap(Protection.init), protection != .none else {
      throw FileFormatError.corrupt("it is sealed, but does not name its protection")
    }
    guard let bytes = Data(base64Encoded: text) else {
      throw FileFormatError.corrupt("its field \"sealed\" is not Base64")
    }
    guard protection == .passphrase else { return .sealed(Array(bytes), kdf: nil) }
    guard let kdf else { throw FileFormatError.corrupt("its field \"kdf\" is missing") }
    guard kdf.name == "scrypt" else { throw FileFormatError.corrupt("its field \"kdf\" names an unknown algorithm") }
    guard kdf.areSane else { throw FileFormatError.corrupt("its field \"kdf\" has parameters that are out of range") }
    return .sealed(Array(bytes), kdf: kdf)
  }
}

/// The JSON form of a grant. Times are in RFC 3339 format.
struct GrantDocument: Codable {
  private enum CodingKeys: String, CodingKey {
    case accessToken, refreshToken, idToken, tokenType, scope, issuedAt, expiresAt, refreshExpiresAt
  }

  let grant: Grant

  init(_ grant: Grant) {
    self.grant = grant
  }

  /// Reads a grant. If there is only a refresh token, the grant counts as expired when issued, so that Hearth refreshes
  /// it immediately, and its empty access token has the refresh token's fingerprint. If `issuedAt` is missing, uses the
  /// file's modification time.
  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func text(_ key: CodingKeys, _ isInForm: (String) -> Bool = { _ in true }) throws -> String? {
      guard let text = try fields.decodeIfPresent(String.self, forKey: key) else { return nil }
      guard isInForm(text) else {
        throw FileFormatError.corrupt("its field \"grant.\(key.rawValue)\" contains invalid characters")
      }
      return text
    }
    func token(_ key: CodingKeys, _ isInForm: (String) -> Bool) throws -> Token? {
      try text(key, isInForm).flatMap { $0.isEmpty ? nil : Token(hashing: Secret($0)) }
    }
    func time(_ key: CodingKeys) throws -> Timestamp? {
      guard let text = try text(key) else { return nil }
      guard let time = Timestamp(rfc3339: text) else {
        throw FileFormatError.corrupt("its field \"grant.\(key.rawValue)\" is not a time")
      }
      return time
    }
    let access = try token(.accessToken, \.isBearerToken)
    let refresh = try token(.refreshToken, \.isRefreshToken)
    guard let accessToken = access ?? refresh.map({ Token(secret: Secret(""), fingerprint: $0.fingerprint) }) else {
      throw FileFormatError.corrupt("it contains no token")
    }
    let issuedAt = try time(.issuedAt) ?? decoder.fileModified
    let expiresAt = try time(.expiresAt)
    grant = Grant(
      accessToken: accessToken, refreshToken: refresh, idToken: try token(.idToken, \.isBearerToken),
      tokenType: try text(.tokenType, \.isBearerToken) ?? "Bearer", scope: try text(.scope), issuedAt: issuedAt,
      expiresAt: access == nil ? issuedAt : expiresAt, refreshExpiresAt: try time(.refreshExpiresAt))
  }

  /// Writes missing values as null, so that other programs can see which fields exist.
  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    let access = grant.accessToken.secret
    try fields.encode(access.isEmpty ? nil : access.reveal(), forKey: .accessToken)
    try fields.encode(grant.refreshToken?.secret.reveal(), forKey: .refreshToken)
    try fields.encode(grant.idToken?.secret.reveal(), forKey: .idToken)
    try fields.encode(grant.tokenType, forKey: .tokenType)
    try fields.encode(grant.scope, forKey: .scope)
    try fields.encode(grant.issuedAt.description, forKey: .issuedAt)
    try fields.encode(grant.expiresAt?.description, forKey: .expiresAt)
    try fields.encode(grant.refreshExpiresAt?.description, forKey: .refreshExpiresAt)
  }
}

/// The JSON form of the end of a session.
struct EndDocument: Codable {
  let reason: String
  let at: String
  let fingerprint: String?

  init(_ record: EndRecord) {
    reason = record.reason.rawValue
    at = record.at.description
    fingerprint = record.fingerprint?.description
  }

  func record(detail: String? = nil) throws -> EndRecord {
    guard let reason = EndReason(rawValue: reason), let at = Timestamp(rfc3339: at) else {
      throw FileFormatError.corrupt("its field \"ended\" is malformed")
    }
    return EndRecord(reason: reason, at: at, fingerprint: fingerprint.flatMap { Fingerprint($0) }, detail: detail)
  }
}
