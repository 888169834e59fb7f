import TestSupport

@testable import HearthCore

/// Imports and sign-ins: they are asked for, and their grants come later, or too late.
extension SessionSimulation {
  mutating func signIn() throws(Violation) {
    if chances(1, in: 3) { return try call(.adopt(adoptable())) }
    if let id = machine.signIns.keys.filter(machine.isWaiting).min(by: { $0.number < $1.number }), chances(2, in: 3) {
      return try followUp(id)
    }
    let flow = [SignInFlow.browser, .device, .password].randomElement(using: &random) ?? .browser
    try call(.signIn(flow, replacesLocked: chances(1, in: 2), endsEarlier: chances(1, in: 3)))
  }

  /// The user, or somebody else, does something about a sign-in that waits.
  private mutating func followUp(_ id: CallID) throws(Violation) {
    let refused = SignInFailure.failed(message: "invalid_scope")
    switch Int.random(in: 0..<8, using: &random) {
    case 0: try deliver(.signInInterrupted(id, .signInCancelled(.sample)))
    case 1: try call(.redirected(id, .foreign))
    case 2: try call(.redirected(id, .scopeRefused(refused, fallbackURL: "https://id.example.com")))
    case 3: try call(.redirected(id, .failed(refused)))
    default: try call(.redirected(id, .code(Secret("code"))))
    }
  }

  /// The provider has a page to open or a code to show, or has none.
  private mutating func begin(_ id: CallID, _ signIn: SignIn) throws(Violation) {
    calls[id]?.askedAt = elapsed
    if chances(1, in: 8) { return try deliver(.signInBegan(id, .failure(.failed(message: "invalid_client")))) }
    let steps: SignInSteps =
      signIn.flow == .browser
      ? .browser(ScriptedSignInEndpoint.browser()) : .device(ScriptedSignInEndpoint.device)
    try deliver(.signInBegan(id, .success(steps)))
  }

  private mutating func adoptable() -> Credential {
    var credential = signedIn()
    if chances(1, in: 6) { credential.grant.refreshToken = nil }
    ledger.adopting.insert(credential)
    return credential
  }

  /// The provider answers, and the user may have given up. What follows has as much time again.
  mutating func bring(_ index: Int) throws(Violation) {
    let id = awaited.remove(at: index).id
    if let signIn = machine.signIns[id], signIn.isBeginning, machine.incoming[id] == nil {
      return try begin(id, signIn)
    }
    guard let grant = machine.incoming[id] else { throw Violation("nobody waits for a grant that was asked for") }
    calls[id]?.askedAt = elapsed
    let isImport = grant.credential != nil
    if chances(1, in: 6) {
      let failure: SignInFailure =
        isImport ? .refresh(.unanswered(message: "reset")) : .denied(message: "access_denied")
      return try deliver(.obtained(id, .failure(failure)))
    }
    if machine.signIns[id]?.flow == .device, chances(1, in: 2) {
      let answer = [DevicePolling.Answer.pending, .slowDown, .unanswered(message: "503")].randomElement(using: &random)
      return try deliver(.obtained(id, .success(.notYet(answer ?? .pending))))
    }
    tally[grant.isAnswered ? .unusedGrant : .broughtGrant] += 1
    try deliver(.obtained(id, .success(isImport ? nil : .granted(TokenResponse(adoptable(), at: now)))))
    if chances(1, in: 8) { try deliver(.signInInterrupted(id, .signInCancelled(.sample))) }
    guard let credential = machine.incoming[id]?.credential else { return }
    try deliver(.completed(id, credential))
  }

  /// Whoever imports or signs in knows at once that something else came in between.
  func checkSuperseded(_ event: SessionInput, _ before: SessionMachine) throws(Violation) {
    if case .called(_, .signOut) = event, machine.signIns.contains(where: { !$0.value.isBeginning }) {
      throw Violation("a sign-in goes on after a sign-out")
    }
    guard machine.epoch.generation != before.epoch.generation else { return }
    let begun: CallID? = if case .completed(let id, _) = event { id } else { nil }
    func waits(_ id: CallID) -> Bool { before.isWaiting(id) || before.signIns[id]?.isBeginning == true }
    if let overtaken = calls.first(where: { $0.value.isAdoption && $0.key != begun && !waits($0.key) })?.key {
      throw Violation("import \(overtaken.number) is superseded, and its caller is not answered")
    }
  }

  /// Revokes leftovers as soon as that harms nobody, according to the session.
  mutating func revokeLeftovers() throws(Violation) {
    for leftover in leftovers where !machine.mayShareUser(with: leftover, of: .sample, at: now) {
      leftovers.removeAll { $0 == leftover }
      let isHeld =
        switch machine.state(at: now) {
        case .unauthenticated, .reauthRequired: false
        case .hydrating, .locked, .authenticated: true
        }
      let held = isHeld ? ledger.newest.flatMap(provider.family(of:)) : nil
      let wasAlive = held.map { provider.families[$0].isAlive } ?? false
      note("revokes \(leftover.grant.accessToken.fingerprint), which nobody uses")
      revoke(leftover)
      tally[.leftover] += 1
      if wasAlive, let held, !provider.families[held].isAlive {
        throw Violation("the revocation of a grant that nobody uses ends the living session")
      }
    }
  }
}
