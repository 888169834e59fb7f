package import HearthCore

/// All sessions, by account: starts and stops their services as the configuration says, and is where the tokens for
/// sending come from.
package actor SessionDirectory: BearerSource {
  package struct Entry: Sendable {
    package let service: SessionService
    /// The configured issuer, told while the session does not know its subject.
    package let issuer: String?
    package let bearer: BearerKind

    package init(service: SessionService, issuer: String?, bearer: BearerKind) {
      self.service = service
      self.issuer = issuer
      self.bearer = bearer
    }
  }

  /// A token that is sent at once need not last longer than it takes to arrive.
  private static let validityToSend: Duration = .seconds(2)

  private var entries: [AccountName: Entry] = [:]
  private let started: AsyncStream<SessionService>
  private let starting: AsyncStream<SessionService>.Continuation

  package init() {
    (started, starting) = AsyncStream.makeStream()
  }

  /// Runs every service that is added, until `stop`.
  package func run() async {
    await withDiscardingTaskGroup { group in
      for await service in started { group.addTask { await service.run() } }
    }
  }

  package func stop(patience: Duration) async {
    await withDiscardingTaskGroup { group in
      for entry in entries.values { group.addTask { await entry.service.stop(patience: patience) } }
    }
    starting.finish()
  }

  /// Puts `entry` in the place of the account's session, which lets its refresh land first; nil takes it away.
  package func set(_ entry: Entry?, for account: AccountName) async {
    if let old = entries.removeValue(forKey: account) { await old.service.stop() }
    guard let entry else { return }
    entries[account] = entry
    starting.yield(entry.service)
  }

  /// The network may be back: what failed for want of it is tried at once.
  package func networkReturned() async {
    for entry in entries.values { await entry.service.networkReturned() }
  }

  package var accounts: [AccountName] { entries.keys.sorted() }

  package subscript(account: AccountName) -> Entry? { entries[account] }

  // MARK: - BearerSource

  package func bearer(for account: AccountName) async throws(BearerFailure) -> Bearer {
    guard let entry = entries[account] else { throw .noSession }
    switch await entry.service.call(.token(minValidity: Self.validityToSend)) {
    case .token(let credential):
      let subject = await entry.service.snapshot().subject
      return Bearer(
        token: credential.grant.bearer(entry.bearer), subject: credential.subject ?? subject,
        secrets: credential.grant.tokens.map(\.secret))
    case .refused(.refreshUnavailable(let message, let retryAfter)):
      throw .unavailable(message: message, retryAfter: retryAfter)
    case .refused(.state), .refused(.stopping), .done, .signedOut:
      throw .noSession
    }
  }

  package func refused(
    _ refusal: APIRefusal, of account: AccountName
  ) async throws(BearerFailure) -> Bearer {
    guard let entry = entries[account] else { throw .noSession }
    _ = await entry.service.call(.reportUnauthorized(refusal))
    let bearer = try await bearer(for: account)
    guard bearer.token.fingerprint == refusal.fingerprint else { return bearer }
    let (snapshot, now) = await (entry.service.snapshot(), entry.service.now)
    throw .unavailable(
      message: snapshot.history.lastError ?? "No new token could be had.",
      retryAfter: snapshot.nextAttemptAt.map { Swift.max($0 - now, .seconds(1)) })
  }
}
