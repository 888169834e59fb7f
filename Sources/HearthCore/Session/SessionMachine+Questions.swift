/// What a credential does not say of itself, and the provider is asked: whose it is, and where its token endpoint is.
extension SessionMachine {
  func questions(about credential: Credential, isOwnerKnown: Bool) -> [SessionAction] {
    let isAtHome = settings.binding.map { $0.origin == credential.origin || $0.refusal(of: credential) != nil } ?? true
    return isOwnerKnown && isAtHome ? [] : [.identify(credential, generation: epoch.generation)]
  }

  mutating func identified(_ owner: Subject?, at origin: Origin?, generation asked: Int) -> [SessionAction] {
    if let origin { settings.binding?.settle(at: origin) }
    guard asked == epoch.generation, case .held(var held) = credentialState else { return [] }
    // Before the owner is known, who may have another issuer's name at the same place.
    if held.credential.origin == nil, let origin, settings.binding?.refusal(of: held.credential) == nil {
      held.credential.origin = origin
      held.isStored = false
      writing.isOvertaken = true
    }
    var isNews = settings.binding?.refusal(of: held.credential) != nil
    if let owner {
      let told = held.credential.subject?.refined(by: owner) ?? owner
      if told != held.credential.subject {
        held.credential.subject = told
        held.isStored = false
        writing.isOvertaken = true
        subject = told
        isNews = true
      }
    }
    credentialState = .held(held)
    return isNews ? [.announce(.statusChanged)] : []
  }
}
