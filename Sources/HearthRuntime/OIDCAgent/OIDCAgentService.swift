package import HearthControl
package import HearthCore
import Synchronization

/// Answers oidc-agent's clients from Hearth's sessions: for them, Hearth's accounts are accounts that are loaded.
package final class OIDCAgentService: OIDCAgentHandler {
  private let control: ControlService
  private let passwords: any PasswordHashing
  private let lock = Mutex(AgentLock())
  /// Held while a password is hashed or tried, so that many at once neither take all memory nor outrun the waits.
  private let locking = AsyncMutex()

  package init(_ control: ControlService, passwords: any PasswordHashing) {
    self.control = control
    self.passwords = passwords
  }

  package func answer(_ request: OIDCAgentRequest) async -> OIDCAgentAnswer {
    let begun = control.metrics.begin()
    do throws(AgentFailure) {
      let answer = try await reply(to: request)
      control.metrics.called(request.metricName, error: nil, since: begun)
      return answer
    } catch {
      let counted = RPCError(error.kind, message: error.error)
      control.metrics.called(request.metricName, error: counted, since: begun)
      return error.answer
    }
  }

  private func reply(to request: OIDCAgentRequest) async throws(AgentFailure) -> OIDCAgentAnswer {
    // As in oidc-agent, these two are answered while it is locked.
    switch request {
    case .check: return .success()
    case .unlock(let password): return try await unlock(password)
    case .accessToken, .loadedAccounts, .status, .statusJSON, .lock, .foreign:
      if lock.withLock(\.isLocked) { throw .locked }
    }
    switch request {
    case .accessToken(let request):
      return .token(try await token(request))
    case .loadedAccounts: return .success(info: .array(await accounts))
    case .status:
      let names = await accounts.compactMap(\.string)
      let count = names.count == 1 ? "1 account" : "\(names.count) accounts"
      return .success(info: .string("\(Self.version) with \(count): \(names.joined(separator: ", "))"))
    case .statusJSON:
      return .success(info: ["version": .string(Self.version), "loaded_accounts": .array(await accounts)])
    case .lock(let password): return try await lock(with: password)
    case .foreign(let request): throw request.failure
    case .check, .unlock: return .success()
    }
  }

  private static let version = "Hearth \(HearthVersion.text)"

  /// The accounts that are loaded: whoever is not signed in would have to be loaded first.
  private var accounts: [JSON] {
    get async {
      var names: [JSON] = []
      for account in await control.sessions.accounts {
        switch await control.sessions[account]?.service.snapshot().state {
        case nil, .unauthenticated?: break
        case .hydrating?, .locked?, .reauthRequired?, .authenticated?: names.append(.string(account.description))
        }
      }
      return names
    }
  }

  // MARK: - Tokens

  private func token(_ request: OIDCAgentRequest.AccessToken) async throws(AgentFailure) -> GivenToken {
    let entry = try await entry(of: request.owner)
    let account = entry.service.account
    if let scope = request.scope, !entry.offer.hasScopes(scope) { throw .otherScopes(account, entry.offer) }
    if let audience = request.audience, audience != entry.offer.audience { throw .otherAudience(account, entry.offer) }
    do throws(RPCError) {
      switch request.validity {
      case .atLeast(let period):
        if let ready = control.readyToken(of: account, minValidity: period) { return ready }
        return try await control.token(of: account, minValidity: period)
      case .new:
        let answer = try await control.ask(account, .refresh).answer
        if case .rejected(let rejection) = answer.response { throw RPCError(rejection, answer.status) }
        return try await control.token(of: account, minValidity: nil)
      }
    } catch { throw AgentFailure(error) }
  }

  private func entry(of owner: OIDCAgentRequest.AccessToken.Owner) async throws(AgentFailure) -> SessionDirectory.Entry
  {
    switch owner {
    case .account(let name):
      guard let account = AccountName(name), let entry = await control.sessions[account] else { throw .unknownAccount }
      return entry
    case .issuer(let issuer):
      let entries = await entries(of: issuer)
      guard let first = entries.first else { throw .unknownIssuer }
      guard entries.count == 1 else { throw .severalAccounts(entries.map(\.service.account)) }
      return first
    }
  }

  /// oidc-agent does not tell issuers apart by a slash at the end either.
  private func entries(of issuer: String) async -> [SessionDirectory.Entry] {
    func plain(_ issuer: String) -> Substring { issuer.hasSuffix("/") ? issuer.dropLast() : issuer[...] }
    var found: [SessionDirectory.Entry] = []
    for account in await control.sessions.accounts {
      guard let entry = await control.sessions[account] else { continue }
      let status = await entry.service.snapshot()
      let issuers = [status.issuer, status.subject?.issuer].compactMap(\.self)
      if issuers.contains(where: { plain($0) == plain(issuer) }) { found.append(entry) }
    }
    return found
  }

  // MARK: - Locking

  /// Also locks the accounts themselves, as `hearthctl lock` does: whoever locks expects that nobody is given a token.
  private func lock(with password: Secret) async throws(AgentFailure) -> OIDCAgentAnswer {
    try await locking.withLock { () async throws(AgentFailure) in
      if lock.withLock(\.isLocked) { throw .locked }
      guard let hash = await passwords.hash(password) else { throw .noMemory }
      var free: [SessionDirectory.Entry] = []
      for account in await control.sessions.accounts {
        guard let entry = await control.sessions[account] else { continue }
        if await !entry.service.isSet(.user) { free.append(entry) }
      }
      lock.withLock { [names = free.map(\.service.account)] in $0.lock(with: hash, names) }
      await control.lock(free)
      return .success(info: "Agent locked")
    }
  }

  private func unlock(_ password: Secret) async throws(AgentFailure) -> OIDCAgentAnswer {
    try await locking.withLock { () async throws(AgentFailure) in
      guard let hash = lock.withLock(\.hash) else { throw .notLocked }
      if let wait = lock.withLock({ $0.wrongPasswords.wait(at: control.clock.steadyNow()) }) { throw .tooSoon(wait) }
      guard await passwords.isPassword(password, of: hash) else {
        lock.withLock { $0.wrongPasswords.add(at: control.clock.steadyNow()) }
        throw .wrongPassword
      }
      for account in lock.withLock({ $0.unlock() }) {
        await control.sessions.reach(account) { try? await $0.unlock(.user, passphrase: nil) }
      }
      return .success(info: "Agent unlocked")
    }
  }
}

extension OIDCAgentAnswer {
  fileprivate static func token(_ token: GivenToken) -> OIDCAgentAnswer {
    .token(token.bearer.token.secret, issuer: token.issuer ?? "", expiresAt: token.bearer.expiresAt)
  }
}

extension OIDCAgentRequest {
  /// Beside the methods of Hearth's own socket.
  fileprivate var metricName: String {
    switch self {
    case .accessToken: "oidc-agent.access_token"
    case .loadedAccounts: "oidc-agent.loaded_accounts"
    case .check: "oidc-agent.check"
    case .status, .statusJSON: "oidc-agent.status"
    case .lock: "oidc-agent.lock"
    case .unlock: "oidc-agent.unlock"
    case .foreign: Metrics.unknownMethod
    }
  }
}

extension OIDCAgentRequest.Foreign {
  fileprivate var failure: AgentFailure {
    switch self {
    case .idToken: .idToken
    case .management: .management
    case .unknown: .unknownRequest
    }
  }
}
