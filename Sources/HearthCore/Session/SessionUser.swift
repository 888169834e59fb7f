/// The user of a session, who remains known while the session is locked.
struct SessionUser: Hashable, Sendable {
  private(set) var subject: Subject?
  /// The configured subject, if the provider named the user only after the sign-in. Data stored under this subject
  /// belongs to the named user until another sign-in.
  private var provisional: Subject?

  mutating func becomes(_ subject: Subject?) { self.subject = subject }

  /// Follows a grant that was read from disk. The remembered subject applies until the provider names a different one.
  /// It does not apply to another program's grant.
  mutating func found(_ owner: Subject?, isOther: Bool) {
    if isOther { leave() }
    subject = owner ?? (isOther ? nil : subject)
  }

  /// Records the user that the provider has named for this sign-in, and returns whether that changes the subject. Until
  /// then, the configured subject stands in for the user.
  mutating func learn(_ named: Subject, of credential: Credential, configured: Subject?) -> Bool {
    if credential.subject == nil, subject == configured { provisional = subject }
    defer { subject = named }
    return named != subject
  }

  /// Forgets the provisional subject, because the grant is being replaced or signed out.
  mutating func leave() { provisional = nil }

  /// Returns the subject under which this user's items may have been stored earlier, or `nil` if there is none.
  /// `origin` is the token endpoint's.
  func former(at origin: Origin?) -> Subject? {
    if let provisional { return provisional }
    guard let subject, !subject.isIssuerAssumed, let origin else { return nil }
    let former = Subject(issuer: origin.description, id: subject.id, isIssuerAssumed: true)
    return former == subject ? nil : former
  }
}
