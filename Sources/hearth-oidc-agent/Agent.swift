import Glibc
import HearthClient
import HearthControl
import HearthCore
import Synchronization

/// Answers requests from oidc-agent's clients by calling hearthd. These clients see Hearth's accounts as loaded
/// accounts.
final class Agent: Sendable {
  /// A lock on the agent. As in oidc-agent, it can be removed only with the password that set it.
  private struct Held {
    let password: Password
    /// The accounts that were not locked before and must be unlocked again.
    let accounts: [AccountName]
  }

  private let socket: String
  private let held = Mutex<Held?>(nil)
  /// The mutex stays locked while a password is hashed or verified, because concurrent attempts could exhaust memory or
  /// bypass the delays.
  private let wrongPasswords = Mutex(WrongPasswords())

  init(socket: String) { self.socket = socket }

  /// Answers a request. Blocks while it calls hearthd.
  func answer(_ request: Request) -> Answer {
    do { return try reply(to: request) } catch { return .failure(Failure(error)) }
  }

  private func reply(to request: Request) throws -> Answer {
    // As in oidc-agent, answer `check` and `unlock` even if the agent is locked.
    switch request {
    case .check: return .success()
    case .unlock(let password): return try unlock(password)
    case .accessToken, .loadedAccounts, .status, .statusJSON, .lock, .foreign:
      if held.withLock({ $0 != nil }) { throw Failure.locked }
    }
    switch request {
    case .accessToken(let request): return try token(request)
    case .loadedAccounts: return .success(info: .array(try accounts.map(JSON.string)))
    case .status:
      let names = try accounts
      let count = names.count == 1 ? "1 account" : "\(names.count) accounts"
      let list = names.isEmpty ? "" : ": \(names.joined(separator: ", "))"
      return .success(info: .string("\(Self.version) with \(count)\(list)"))
    case .statusJSON:
      return .success(info: [
        "version": .string(Self.version), "loaded_accounts": .array(try accounts.map(JSON.string)),
      ])
    case .lock(let password): return try lock(with: password)
    case .foreign(let failure): throw failure
    case .check, .unlock: return .success()
    }
  }

  private static let version = "Hearth \(HearthVersion.text)"

  private func call<Method: ControlMethod>(_ call: Method) throws -> Method.Result {
    var client = try ControlClient(path: socket)
    return try client.call(call).value
  }

  /// The names of the loaded accounts: all except those that are signed out or were never signed in to.
  private var accounts: [String] {
    get throws {
      try call(ListSessions()).sessions.compactMap { session in
        if case .unauthenticated = session.state { nil } else { session.account.description }
      }
    }
  }

  // MARK: - Tokens

  private func token(_ request: Request.AccessToken) throws -> Answer {
    let account = try account(of: request.owner)
    func token(validFor period: Duration?) throws -> Answer {
      let call = GetToken(account, minValidity: period, scope: request.scope, audience: request.audience)
      let given = try self.call(call)
      return .token(given.token.secret, issuer: given.issuer ?? "", expiresAt: given.expiresAt)
    }
    switch request.validity {
    case .atLeast(let period): return try token(validFor: period)
    case .new:
      // Before refreshing, check that the account's tokens have the requested scope and audience.
      if request.scope != nil || request.audience != nil { _ = try token(validFor: .zero) }
      _ = try call(RefreshSession(account))
      return try token(validFor: nil)
    }
  }

  private func account(of owner: Request.AccessToken.Owner) throws -> AccountName {
    switch owner {
    case .account(let name):
      guard let account = AccountName(name) else { throw Failure.unknownAccount }
      return account
    case .issuer(let issuer):
      // Like oidc-agent, ignore a trailing slash.
      func plain(_ issuer: String) -> Substring { issuer.hasSuffix("/") ? issuer.dropLast() : issuer[...] }
      let accounts = try call(ListSessions()).sessions
        .filter { session in [session.subject?.issuer, session.issuer].contains { $0.map(plain) == plain(issuer) } }
        .map(\.account)
      guard let first = accounts.first else { throw Failure.unknownIssuer }
      guard accounts.count == 1 else { throw Failure.severalAccounts(accounts) }
      return first
    }
  }

  // MARK: - Locking

  /// Locks the agent and, like `hearthctl lock`, all accounts, because users expect a locked agent not to give out
  /// tokens. As in oidc-agent, locking either succeeds completely or changes nothing. Blocks until hearthd has locked
  /// all accounts.
  private func lock(with text: Secret) throws -> Answer {
    try wrongPasswords.withLock { wrong in
      if held.withLock({ $0 != nil }) { throw Failure.locked }
      guard let password = Password(text) else { throw Failure.noMemory }
      // Accounts that the user locked earlier must stay locked. The lock of a signed-out account is not visible in its
      // state, so `unlock` removes that lock too.
      let accounts = try call(ListSessions()).sessions.filter { $0.state != .locked(.explicit(.user)) }.map(\.account)
      do { _ = try call(LockSessions(nil)) } catch {
        // If a lock could not be saved, the call fails although the accounts are locked, so unlock them.
        for account in accounts { _ = try? call(UnlockSessions(account)) }
        throw error
      }
      held.withLock { $0 = Held(password: password, accounts: accounts) }
      wrong = WrongPasswords()
      return .success(info: "Agent locked")
    }
  }

  private func unlock(_ text: Secret) throws -> Answer {
    try wrongPasswords.withLock { wrong in
      guard let held = held.withLock(\.self) else { throw Failure.notLocked }
      if let wait = wrong.wait(at: Self.uptime) { throw Failure.tooSoon(wait) }
      guard held.password.matches(text) else {
        wrong.add(at: Self.uptime)
        throw Failure.wrongPassword
      }
      self.held.withLock { $0 = nil }
      for account in held.accounts { _ = try? call(UnlockSessions(account)) }
      return .success(info: "Agent unlocked")
    }
  }

  /// The time since boot, so that setting the clock does not change the delay.
  private static var uptime: Timestamp {
    var now = timespec()
    clock_gettime(CLOCK_BOOTTIME, &now)
    return Timestamp(milliseconds: Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000)
  }
}
