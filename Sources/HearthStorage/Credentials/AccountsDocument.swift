import HearthCore

/// The JSON document in accounts.json. It contains no secrets, and unknown fields are ignored.
struct AccountsDocument: Codable {
  static let version = 1

  var version = AccountsDocument.version
  let accounts: [String: KnownAccount]
}

extension KnownAccount: Codable {
  private enum CodingKeys: String, CodingKey {
    case path, marker, issuer, issuerAssumed, subject, fingerprint, lockedByUser, end, endDetail, removal, grant, barred
    case rejected, clock
    case formerPlaces = "leftovers"
    case formerGrants, overGrants = "signedOut"
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
    // Ignore a malformed clock, so that the rest of the file stays usable.
    clock = (try? fields.decodeIfPresent(ClockDocument.self, forKey: .clock))?.clock
    lockedByUser = try fields.decodeIfPresent(Bool.self, forKey: .lockedByUser) ?? false
    end = try fields.decodeIfPresent(EndDocument.self, forKey: .end)?.record(detail: try text(.endDetail))
    removal = try fields.decodeIfPresent(PendingRemoval.self, forKey: .removal)
    barred = try fields.decodeIfPresent(Fingerprint.self, forKey: .barred)
    rejected = try fields.decodeIfPresent(Fingerprint.self, forKey: .rejected)
    func fingerprints(_ key: CodingKeys) throws -> [Fingerprint] {
      // Split by bytes, because the field of a damaged file can contain any text.
      let digits = Array((try text(key) ?? "").utf8)
      return stride(from: 0, to: digits.count, by: 8)
        .compactMap { Fingerprint(String(decoding: digits[$0..<Swift.min($0 + 8, digits.count)], as: UTF8.self)) }
    }
    grants = GrantHistory(
      current: try fields.decodeIfPresent(Fingerprint.self, forKey: .grant), former: try fingerprints(.formerGrants),
      over: try fingerprints(.overGrants))
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
    try fields.encodeIfPresent(clock.map(ClockDocument.init), forKey: .clock)
    if lockedByUser { try fields.encode(true, forKey: .lockedByUser) }
    try fields.encodeIfPresent(end.map(EndDocument.init), forKey: .end)
    // Store the detail only here, because other programs read the credential file, whose fields are documented.
    try fields.encodeIfPresent(end?.detail, forKey: .endDetail)
    try fields.encodeIfPresent(removal, forKey: .removal)
    try fields.encodeIfPresent(barred, forKey: .barred)
    try fields.encodeIfPresent(rejected, forKey: .rejected)
    func encode(_ fingerprints: [Fingerprint], _ key: CodingKeys) throws {
      // Encode the fingerprints as one string, because there can be a thousand and each refresh writes the file.
      if !fingerprints.isEmpty { try fields.encode(fingerprints.map(\.description).joined(), forKey: key) }
    }
    try fields.encodeIfPresent(grants.current, forKey: .grant)
    try encode(grants.former, .formerGrants)
    try encode(grants.over, .overGrants)
    if !formerPlaces.isEmpty { try fields.encode(formerPlaces, forKey: .formerPlaces) }
  }
}

/// The JSON form of a grant's clock.
private struct ClockDocument: Codable {
  let token: Fingerprint
  let issuedAt: String
  let boot: String
  let steppedMilliseconds: Int64

  init(_ clock: GrantClock) {
    (token, issuedAt, boot) = (clock.token, clock.issuedAt.description, clock.boot)
    steppedMilliseconds = clock.stepped.wholeMilliseconds
  }

  /// The clock, or `nil` if the time is malformed.
  var clock: GrantClock? {
    Timestamp(rfc3339: issuedAt).map {
      GrantClock(token: token, issuedAt: $0, boot: boot, stepped: .milliseconds(steppedMilliseconds))
    }
  }
}

extension Fingerprint: Codable {
  package init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let fingerprint = Fingerprint(text) else { throw FileFormatError.corrupt("a fingerprint is malformed") }
    self = fingerprint
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

extension KeyedDecodingContainer {
  /// Returns `nil` for a string that is not a fingerprint, so that the rest of the file stays usable.
  /// Compiler-generated decoders also call this overload.
  func decodeIfPresent(_: Fingerprint.Type, forKey key: Key) throws -> Fingerprint? {
    try decodeIfPresent(String.self, forKey: key).flatMap { Fingerprint($0) }
  }
}
