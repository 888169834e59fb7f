import Glibc
import HearthClient
import HearthControl
import HearthCore
import Synchronization

/// Answers oidc-agent's clients with what hearthd says: for them, Hearth's accounts are accounts that are loaded.
final class Agent: Sendable {
  /// The lock that a password sets and the same password removes, as oidc-agent's own.
  private struct Held {
    let password: Password
    /// The accounts whose user had not locked them before.
    let accounts: [AccountName]
  }

  private let socket: String
  private let held = Mutex<Held?>(nil)
  /// Held while a password is hashed or tried, so that many at once neither take all memory nor outrun the waits.
  private let wrongPasswords = Mutex(WrongPasswords())

  /// `socket`: hearthd's.
  init(socket: String) { self.socket = socket }

  /// Blocks until hearthd has answered.
  func answer(_ request: Request) -> Answer {
    do throws(Failure) { return try reply(to: request) } catch { return error.answer }
  }

  private func reply(to request: Request) throws(Failure) -> Answer {
    // As in oidc-agent, these two are answered while it is locked.
    switch request {
    case .check: return .success()
    case .unlock(let password): return try unlock(password)
    case .accessToken, .loadedAccounts, .status, .statusJSON, .lock, .foreign:
      if held.withLock({ $0 != nil }) { throw .locked }
    }
    switch request {
    case .accessToken(let request): return try token(request)
    case .loadedAccounts: return .success(info: .array(try accounts.map(JSON.string)))
    case .status:
      let names = try accounts
      let count = names.count == 1 ? "1 account" : "\(names.count) accounts"
      return .success(info: .string("\(Self.version) with \(count): \(names.joined(separator: ", "))"))
    case .statusJSON:
      return .success(info: [
        "version": .string(Self.version), "loaded_accounts": .array(try accounts.map(JSON.string)),
      ])
    case .lock(let password): return try lock(with: password)
    case .foreign(.idToken): throw .idToken
    case .foreign(.management): throw .management
    case .foreign(.unknown): throw .unknownRequest
    case .check, .unlock: return .success()
    }
  }

  private static let version = "Hearth \(HearthVersion.text)"

  private func call<Method: ControlMethod>(_ call: Method) throws(Failure) -> Method.Result {
    do throws(ControlClient.Failure) {
      var client = try ControlClient(path: socket)
      return try client.call(call).value
    } catch { throw Failure(error) }
  }

  /// The accounts that are loaded: whoever is not signed in would have to be loaded first.
  private var accounts: [String] {
    get throws(Failure) {
      try call(ListSessions()).sessions.filter { !$0.state.isUnauthenticated }.map(\.account.description)
    }
  }

  // MARK: - Tokens

  private func token(_ request: Request.AccessToken) throws(Failure) -> Answer {
    let account = try account(of: request.owner)
    func token(validFor period: Duration?) throws(Failure) -> Answer {
      let call = GetToken(account, minValidity: period, scope: request.scope, audience: request.audience)
      let given = try self.call(call)
      return .token(given.bearer.token.secret, issuer: given.issuer ?? "", expiresAt: given.bearer.expiresAt)
    }
    switch request.validity {
    case .atLeast(let period): return try token(validFor: period)
    case .new:
      // What cannot be had is refused before anything is renewed for it.
      if request.scope != nil || request.audience != nil { _ = try token(validFor: .zero) }
      _ = try call(RefreshSession(account))
      return try token(validFor: nil)
    }
  }

  private func account(of owner: Request.AccessToken.Owner) throws(Failure) -> AccountName {
    switch owner {
    case .account(let name):
      guard let account = AccountName(name) else { throw .unknownAccount }
      return account
    case .issuer(let issuer):
      // oidc-agent does not tell issuers apart by a slash at the end either.
      func plain(_ issuer: String) -> Substring { issuer.hasSuffix("/") ? issuer.dropLast() : issuer[...] }
      let accounts = try call(ListSessions()).sessions
        .filter { session in [session.subject?.issuer, session.issuer].contains { $0.map(plain) == plain(issuer) } }
        .map(\.account)
      guard let first = accounts.first else { throw .unknownIssuer }
      guard accounts.count == 1 else { throw .severalAccounts(accounts) }
      return first
    }
  }

  // MARK: - Locking

  /// Also locks the accounts themselves, as `hearthctl lock` does: whoever locks expects that nobody is given a token. As
  /// in oidc-agent, either all is locked or nothing. Blocks until hearthd has locked them all.
  private func lock(with text: Secret) throws(Failure) -> Answer {
    try wrongPasswords.withLock { wrong throws(Failure) in
      if held.withLock({ $0 != nil }) { throw .locked }
      guard let password = Password(text) else { throw .noMemory }
      // What the user has locked is to stay so. An account without a session shows no lock.
      let accounts = try call(ListSessions()).sessions.filter { $0.state != .locked(.explicit(.user)) }.map(\.account)
      _ = try call(LockSessions(nil))
      held.withLock { $0 = Held(password: password, accounts: accounts) }
      wrong = WrongPasswords()
      return .success(info: "Agent locked")
    }
  }

  private func unlock(_ text: Secret) throws(Failure) -> Answer {
    try wrongPasswords.withLock { wrong throws(Failure) in
      guard let held = held.withLock(\.self) else { throw .notLocked }
      if let wait = wrong.wait(at: Self.uptime) { throw .tooSoon(wait) }
      guard held.password.matches(text) else {
        wrong.add(at: Self.uptime)
        throw .wrongPassword
      }
      self.held.withLock { $0 = nil }
      for account in held.accounts { _ = try? call(UnlockSessions(account)) }
      return .success(info: "Agent unlocked")
    }
  }

  /// Whoever sets the clock neither shortens the wait nor makes it longer.
  private static var uptime: Timestamp {
    var now = timespec()
    clock_gettime(CLOCK_BOOTTIME, &now)
    return Timestamp(milliseconds: Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000)
  }
}

extension SessionState {
  fileprivate var isUnauthenticated: Bool {
    switch self {
    case .unauthenticated: true
    case .hydrating, .locked, .reauthRequired, .authenticated: false
    }
  }
}
