/// Applies a reloaded configuration to a running session. The session keeps its grant, and requests in progress
/// continue.
extension SessionMachine {
  mutating func configured(
    _ next: SessionSettings, _ changed: Set<SessionPart>, at now: Timestamp
  ) -> [SessionAction] {
    let before = settings
    settings = next
    settings.binding = next.binding?.keeping(before.binding)
    let plansAnew =
      next.refresh != before.refresh || next.renewsWithoutRefreshToken != before.renewsWithoutRefreshToken
    if plansAnew, let grant = active?.grant {
      let refreshAt = refreshTime(of: grant)
      active?.refreshAt = refreshAt
    }
    if next.bearer != before.bearer { refreshes.forgetRejection() }
    if active?.credential.subject == nil, subject == before.configuredSubject { user.becomes(next.configuredSubject) }
    for lock in locks.all.subtracting(next.locks) { _ = locks.remove(lock) }
    if changed.contains(.store) { file.storeIsDue() }
    if changed.contains(.provider) { providerChanged() }
    refreshes.configurationChanged(endpointIsNew: changed.contains(.endpoint), at: now)
    guard changed.contains(.endpoint), let credential = active?.credential else { return [] }
    return questions(about: credential)
  }

  /// Handles a new issuer or client. Keeps the grant, because a grant is sent only to the provider that issued it. If
  /// the client is about to request its own first grant, or may do so now, reads the credential again first.
  private mutating func providerChanged() {
    epoch.providerChanged()
    refreshes.providerChanged()
    let findsOut =
      switch credentialState {
      case .starting: true
      case .ended(let record): isRecoverable(record.reason)
      case .absent(let signedOut): settings.renewsWithoutRefreshToken && !signedOut
      case .notHeld, .active, .adopting, .ending: false
      }
    guard findsOut else { return }
    refreshes.abandon()
    credentialState = .notHeld(.unread)
    file.read.request()
  }

  /// Switches to the configured store once the previous one has nothing left to do.
  mutating func replaceStoreWhereDue() -> [SessionAction] {
    guard file.storeChange == .due, !file.read.isUnderWay, !file.write.isUnderWay, !locks.note.isUnderWay else {
      return []
    }
    file.storeReplaced()
    return [.replaceStore]
  }
}
