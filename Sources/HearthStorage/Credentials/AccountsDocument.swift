import HearthCore

/// The JSON of accounts.json. It holds no secrets. Fields that are not named here are ignored.
struct AccountsDocument: Codable {
  private static let version = 1

  private let version: Int
  private let accounts: [String: KnownAccount]

  /// The contents of the file for these accounts, by name.
  static func bytes(of accounts: [String: KnownAccount]) -> [UInt8] {
    FileFormat.encode(Self(version: version, accounts: accounts)) + [UInt8(ascii: "\n")]
  }

  static func accounts(in bytes: [UInt8]) throws(FileFormatError) -> [String: KnownAccount] {
    try FileFormat.decode(Self.self, version: version, from: bytes).accounts
  }
}

extension KnownAccount: Codable {
  private enum CodingKeys: String, CodingKey {
    case path, marker, issuer, issuerAssumed, subject, fingerprint, lockedByUser, end, endDetail, removal, signedOut
    case formerPlaces = "leftovers"
  }

  package init(from decoder: any Decoder) throws {
    self.init()
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func text(_ key: CodingKeys) throws -> String? { try fields.decodeIfPresent(String.self, forKey: key) }
    if let path = try text(.path), let marker = try text(.marker) { place = Place(path: path, marker: marker) }
    if let issuer = try text(.issuer), let id = try text(.subject) {
      let isAssumed = try fields.decodeIfPresent(Bool.self, forKey: .issuerAssumed)
      subject = Subject(issuer: issuer, id: id, isIssuerAssumed: isAssumed ?? false)
    }
    fingerprint = try fields.decodeIfPresent(Fingerprint.self, forKey: .fingerprint)
    lockedByUser = try fields.decodeIfPresent(Bool.self, forKey: .lockedByUser) ?? false
    end = try fields.decodeIfPresent(EndDocument.self, forKey: .end)?.record(detail: try text(.endDetail))
    removal = try fields.decodeIfPresent(PendingRemoval.self, forKey: .removal)
    signedOut = try fields.decodeIfPresent(Fingerprint.self, forKey: .signedOut)
    formerPlaces = try fields.decodeIfPresent([FormerPlace].self, forKey: .formerPlaces) ?? []
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encodeIfPresent(place?.path, forKey: .path)
    try fields.encodeIfPresent(place?.marker, forKey: .marker)
    try fields.encodeIfPresent(subject?.issuer, forKey: .issuer)
    if subject?.isIssuerAssumed == true { try fields.encode(true, forKey: .issuerAssumed) }
    try fields.encodeIfPresent(subject?.id, forKey: .subject)
    try fields.encodeIfPresent(fingerprint, forKey: .fingerprint)
    if lockedByUser { try fields.encode(true, forKey: .lockedByUser) }
    try fields.encodeIfPresent(end.map(EndDocument.init), forKey: .end)
    // Only here: the contract lists the fields of the credential file.
    try fields.encodeIfPresent(end?.detail, forKey: .endDetail)
    try fields.encodeIfPresent(removal, forKey: .removal)
    try fields.encodeIfPresent(signedOut, forKey: .signedOut)
    if !formerPlaces.isEmpty { try fields.encode(formerPlaces, forKey: .formerPlaces) }
  }
}

extension Fingerprint: Codable {
  package init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let fingerprint = Fingerprint(text) else { throw FileFormatError.corrupt("a fingerprint is not in form") }
    self = fingerprint
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

extension KeyedDecodingContainer {
  /// A text that is not a fingerprint is read as none: everything else that is remembered stays of use. Code that the
  /// compiler writes calls this too.
  func decodeIfPresent(_: Fingerprint.Type, forKey key: Key) throws -> Fingerprint? {
    try decodeIfPresent(String.self, forKey: key).flatMap { Fingerprint($0) }
  }
}
