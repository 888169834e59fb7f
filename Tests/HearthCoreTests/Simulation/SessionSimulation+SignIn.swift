import TestSupport

@testable import HearthCore

/// Imports and sign-ins: they are asked for, and their grants come later, or too late.
extension SessionSimulation {
  mutating func signIn() throws(Violation) {
    if chances(1, in: 2) { return try call(.adopt(.imported(adoptable()))) }
    try call(.adopt(.signIn(since: machine.epoch, replacesLocked: chances(1, in: 2))))
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
    guard let grant = machine.incoming[id] else { throw Violation("nobody waits for a grant that was asked for") }
    calls[id]?.askedAt = elapsed
    let response: TokenResponse?
    switch grant.source {
    case .imported where chances(1, in: 6):
      return try deliver(.obtained(id, .failure(.provider(.unanswered(message: "reset")))))
    case .imported: response = nil
    case .signIn where chances(1, in: 6):
      return try deliver(.obtained(id, .failure(.signIn(.denied(message: "access_denied")))))
    case .signIn: response = TokenResponse(adoptable(), at: now)
    }
    tally[grant.isAnswered ? .unusedGrant : .broughtGrant] += 1
    try deliver(.obtained(id, .success(response)))
    guard let credential = machine.incoming[id]?.credential else { return }
    try deliver(.completed(id, credential, isWanted: !chances(1, in: 8)))
  }

  /// Whoever imports or signs in knows at once that something else came in between.
  func checkSuperseded(_ event: SessionInput, _ before: SessionMachine) throws(Violation) {
    guard machine.epoch.generation != before.epoch.generation else { return }
    let begun: CallID? = if case .completed(let id, _, _) = event { id } else { nil }
    if let overtaken = calls.first(where: { $0.value.isAdoption && $0.key != begun })?.key {
      throw Violation("import \(overtaken.number) is superseded, and its caller is not answered")
    }
  }
}
