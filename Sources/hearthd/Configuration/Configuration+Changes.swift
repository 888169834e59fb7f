import HearthOAuth

extension Configuration {
  /// Describes the differences from an earlier configuration for the log. The text names accounts and parts but does
  /// not contain any values.
  func changes(from former: Configuration) -> [String] {
    let old = Dictionary(uniqueKeysWithValues: former.accounts.map { ($0.name, $0) })
    let new = Set(accounts.map(\.name))
    var changes = accounts.compactMap { account -> String? in
      guard let before = old[account.name] else { return "account \(account.name): added" }
      let parts = account.changedParts(from: before)
      guard !parts.isEmpty else { return nil }
      let client = account.provider.sharesGrants(with: before.provider) ? "" : " (different issuer or client)"
      return "account \(account.name): \(parts.joined(separator: ", "))\(client)"
    }
    changes += former.accounts.filter { !new.contains($0.name) }.map { "account \($0.name): removed" }
    let others = [
      ("token files", sinks == former.sinks), ("default_account and [[use]]", rules == former.rules),
      ("[refresh]", refresh == former.refresh), ("[outbox]", outbox == former.outbox),
      ("[log]", logLevel == former.logLevel),
    ]
    return changes + others.filter { !$0.1 }.map(\.0)
  }
}

extension AccountConfiguration {
  fileprivate func changedParts(from former: Self) -> [String] {
    let parts = [
      ("provider", provider == former.provider), ("api_origins and delivery", api == former.api),
      ("credential", credential == former.credential), ("session", session == former.session),
    ]
    return parts.filter { !$0.1 }.map(\.0)
  }
}
