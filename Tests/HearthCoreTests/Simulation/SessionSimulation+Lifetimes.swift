import TestSupport

@testable import HearthCore

/// How long tokens last, by the provider's count and not by this machine's clock, and why a session may end.
extension SessionSimulation {
  /// Timestamps are in milliseconds; the provider's count and the passing time are more precise.
  private static let rounding: Duration = .milliseconds(2)

  /// Checks that a grant is taken over with its remaining life, whatever the clock was when it was written.
  func checkAdopted(_ credential: Credential, _ before: SessionMachine) throws(Violation) {
    if case .active = before.credentialState { return }
    guard case .active(let active) = machine.credentialState, let expiresAt = active.grant.expiresAt else { return }
    if expiresAt - now > provider.lifetime + .seconds(1) {
      throw Violation("a grant is fresh for longer than any lives: \(expiresAt - now)")
    }
  }

  /// Notes whether the grant in use seems to last longer than it does. A grant that was read may, if a clock was wrong,
  /// but no step makes it so. It may only lead back to such a clock.
  mutating func noteAge(isNew: Bool) {
    guard let active = machine.active, case let token = active.grant.accessToken.fingerprint,
      isNew || ledger.younger.contains(token), let seen = active.grant.expiresAt, let end = provider.runsOutAt[token]
    else { return }
    ledger.seemsYounger = seen - now > end - elapsed + .seconds(45)
    if ledger.seemsYounger { ledger.younger.insert(token) }
  }

  /// Whether a grant that was read may seem younger than it is because a clock was wrong. It must not if this boot
  /// recorded its times when they were right, or if its issue time is later than now.
  mutating func maySeemYounger(_ credential: Credential, _ before: SessionMachine) -> Bool {
    let (grant, token) = (credential.grant, credential.grant.accessToken.fingerprint)
    if grant.issuedAt - now > .seconds(60) { return false }
    let isCountedByBoot = before.recalled.clockStep?.token == token && ledger.counted == token
    if isCountedByBoot || before.recalled.wiped?.restored(credential) != nil { return ledger.younger.contains(token) }
    if let seen = grant.expiresAt, let end = provider.runsOutAt[token], seen - now > end - elapsed + .seconds(45) {
      // Under a lock the grant is not in use, but its times are recorded from here on.
      ledger.younger.insert(token)
    }
    return true
  }

  /// Whether a wrong clock wrote the times of the grant in use, so that the provider's clock cannot show its age.
  var isWrittenYounger: Bool {
    guard let grant = machine.active?.stored.grant, let written = grant.expiresAt,
      let end = provider.runsOutAt[grant.accessToken.fingerprint]
    else { return false }
    return written - serverTime > end - elapsed + .seconds(45)
  }

  /// The grant that has ended: the one in memory, or one that was just read or written.
  private func endedGrant(_ record: EndRecord, _ before: SessionMachine) -> (grant: Grant, wasUsed: Bool)? {
    var grants: [(Grant, Bool)] = []
    if case .active(let active) = before.credentialState {
      grants.append((active.grant, true))
      if case .storing(let next, _) = active.phase { grants.append((next.grant, true)) }
    }
    if case .adopting(let adoption) = before.credentialState { grants.append((adoption.credential.grant, false)) }
    switch ledger.lastReading {
    case .found(let credential, _): grants.append((credential.grant, false))
    default: break
    }
    return grants.first { $0.0.accessToken.fingerprint == record.fingerprint }
  }

  private func hasEndedByProvidersClock(_ before: SessionMachine) -> Bool {
    guard case .active(let active) = before.credentialState, active.timing.access != .counted else { return false }
    return active.stored.grant.expiresAt.map { $0 <= serverTime } ?? false
  }

  mutating func checkEnd(_ record: EndRecord, _ before: SessionMachine) throws(Violation) {
    // An end that could not be written anywhere is written again.
    if case .ending(record, _) = before.credentialState { return }
    var grounds = ledger.grounds
    if !settings.renewsWithoutRefreshToken, let (grant, wasUsed) = endedGrant(record, before) {
      // This machine's clock is no ground for an end; only the time that has passed, or the provider's clock, is.
      let end = provider.runsOutAt[grant.accessToken.fingerprint]
      if grant.refreshToken == nil,
        end.map({ $0 <= elapsed + Self.rounding }) ?? false || hasEndedByProvidersClock(before)
      {
        grounds.insert(.noRefreshToken)
      }
      let refreshEnd = (grant.refreshToken?.fingerprint).flatMap { provider.refreshEnds[$0] }
      if ledger.hadTrouble || !wasUsed || !provider.manner.rotates,
        refreshEnd.map({ $0 <= elapsed + Self.rounding }) ?? false
      {
        grounds.insert(.refreshTokenExpired)
      }
    }
    guard grounds.contains(record.reason) else { throw Violation("a session ends without grounds: \(record.reason)") }
    ledger.newest = nil
    tally[.ended(record.reason)] += 1
  }
}
