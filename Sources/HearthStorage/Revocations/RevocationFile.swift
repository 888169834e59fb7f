import FoundationEssentials
import HearthCore

/// The JSON form of a grant that is still to be revoked.
struct RevocationFile: Codable {
  /// The unencrypted fields, which contain no secrets.
  struct Header: Codable, Hashable, Sendable {
    let account: String
    let issuer: String?
    let isIssuerAssumed: Bool?
    let subject: String?
    let origin: String?
    let origins: [String]?
    let expiresAt: String
    /// The account's key file if its key sealed the grant, or `nil` if the daemon's key did.
    let keyFile: String?
  }

  var version = 1
  let header: Header
  /// The nonce, ciphertext and tag, encoded as Base64.
  let sealed: Data

  /// Opens the seal, which also authenticates the header. Throws if the seal cannot be opened.
  func pending(id: String, with key: SealingKey, expiresAt: Timestamp) throws -> PendingRevocation {
    guard let account = AccountName(header.account),
      let plaintext = key.open(Array(sealed), associated: FileFormat.encode(header)),
      let grant = try? CredentialFile.grant(from: plaintext, modified: expiresAt)
    else { throw AccessFailure(.keyUnavailable, detail: "its seal cannot be opened") }
    func origin(_ text: String) -> Origin? { (try? HTTPURL(text))?.origin }
    let subject = header.subject.flatMap { id in
      header.issuer.map { Subject(issuer: $0, id: id, isIssuerAssumed: header.isIssuerAssumed ?? false) }
    }
    return PendingRevocation(
      id: id, account: account,
      credential: Credential(
        grant: grant, subject: subject, origin: header.origin.flatMap(origin),
        origins: header.origins.map { Set($0.compactMap(origin)) }),
      keeping: header.keyFile.map { .keyFile($0) } ?? .ownKey, expiresAt: expiresAt)
  }
}

extension RevocationFile.Header {
  init(_ pending: PendingRevocation) {
    let credential = pending.credential
    let keyFile: String? = if case .keyFile(let path) = pending.keeping { path } else { nil }
    self.init(
      account: pending.account.description, issuer: credential.subject?.issuer,
      isIssuerAssumed: credential.subject?.isIssuerAssumed, subject: credential.subject?.id,
      origin: credential.origin?.description, origins: credential.origins?.map(\.description).sorted(),
      expiresAt: pending.expiresAt.description, keyFile: keyFile)
  }
}
