import HearthCore
import HearthRuntime
import TestSupport

/// An account: its provider, its credential on the disk, and what the world knows of its session.
final class SimulatedAccount: @unchecked Sendable {
  /// How the provider is disposed.
  enum Mood: CaseIterable {
    case fine, lossy, down, strange, misconfigured
  }

  /// What is known of an access token.
  struct TokenFact {
    let subject: Subject
    let issuedAt: Duration
    /// When it arrived here.
    var heldSince: Duration
    var isRevoked = false
    /// An API took it, as this daemon heard.
    var isAccepted = false
    /// When this daemon received a 401 to it, by the number of the request that it came with.
    var refusals: [Int: [Duration]] = [:]
  }

  let name: AccountName
  var provider: SimulatedProvider
  var mood = Mood.fine
  /// What becomes of the next requests in this mood, from 0 to 11; nil: that is left to chance.
  var fate: Int?
  var disk = SimulatedDisk()
  var locks: Set<Lock> = []
  var tokens: [Fingerprint: TokenFact] = [:]
  /// Why the session may end now.
  var grounds: Set<EndReason> = []
  /// As it was last published.
  var state = SessionState.hydrating
  var isPaused = false
  /// How often its outbox was resumed.
  var resumes = 0
  /// Whether something could be sent when everybody last came to rest.
  var mightSend = false
  /// The refresh tokens that this daemon has sent and was not answered.
  var refreshes: Set<Fingerprint> = []
  var unclearSince: Duration?

  init(_ name: AccountName, _ provider: SimulatedProvider) {
    self.name = name
    self.provider = provider
  }

  var maySend: Bool { state == .authenticated && !isPaused }

  /// Another process begins. Locks other than the user's are set anew.
  func starts() {
    state = .hydrating
    locks = disk.known.lockedByUser ? [.user] : []
    refreshes = []
    if let end = disk.known.end { grounds.insert(end.reason) }
    for token in tokens.keys {
      tokens[token]?.isAccepted = false
    }
    forgetsRefusals()
  }

  /// A new try is asked for, by whoever or whatever may know better.
  func forgetsRefusals() {
    for token in tokens.keys { tokens[token]?.refusals = [:] }
  }

  func issued(_ token: Token, to subject: Subject, at elapsed: Duration) {
    tokens[token.fingerprint] = TokenFact(subject: subject, issuedAt: elapsed, heldSince: elapsed)
  }

  /// What an API thinks of a token.
  func isValid(_ token: Fingerprint, at elapsed: Duration) -> Bool {
    guard let fact = tokens[token], !fact.isRevoked, let family = provider.family(of: token) else { return false }
    return provider.families[family].isAlive && elapsed <= fact.issuedAt + provider.lifetime
  }
}

extension OutboxSimulation {
  /// Their names look alike: K, and the Kelvin sign.
  static let users = ["K", "\u{212A}"].map { Subject(issuer: Sample.alice.issuer, id: $0) }

  func account(_ name: AccountName) -> SimulatedAccount? { accounts.first { $0.name == name } }

  func account(of trackedRequest: TrackedRequest) -> SimulatedAccount? { account(trackedRequest.draft.account) }

  /// A person signs in at the provider.
  func signedIn(_ account: SimulatedAccount) -> Credential {
    let user = Self.users.randomElement(using: &random) ?? Self.users[0]
    let credential = account.provider.signIn(at: elapsed, now, as: user)
    account.issued(credential.grant.accessToken, to: user, at: elapsed)
    return credential
  }

  /// What the session tells.
  func published(_ events: [SessionEvent], _ snapshot: SessionStatus, _ daemon: Int) {
    guard lives(daemon), let account = account(snapshot.account) else { return }
    if account.state != snapshot.state { account.forgetsRefusals() }
    account.state = snapshot.state
    for event in events {
      switch event {
      case .refreshed, .signedIn: account.grounds = []
      case .changed(let before, let after):
        note("\(account.name): \(before) → \(after)")
        guard case .reauthRequired(let reason) = after else { break }
        tally[.ended(reason)] += 1
        guard account.grounds.contains(reason) else {
          return violated("a session ends without grounds: \(reason)")
        }
      // Whatever else is published, nothing follows from it here.
      default: break
      }
    }
  }
}

/// The steps that a credential store takes on the disk, each of which may take its time or be the last one.
final class SimulatedCredentialStore: CredentialStore, @unchecked Sendable {
  private let account: SimulatedAccount
  private unowned let world: OutboxSimulation
  private let daemon: Int
  private static let gone = AccessFailure(.storageError, detail: "the daemon is gone")

  init(_ account: SimulatedAccount, in world: OutboxSimulation, of daemon: Int) {
    self.account = account
    self.world = world
    self.daemon = daemon
  }

  private func progress(_ job: SimulatedDisk.Job) async -> SimulatedDisk.Progress {
    for index in 0..<8 {
      await world.wait(world.diskTime, daemon)
      guard world.lives(daemon) else { break }
      let progress = account.disk.step(job, index)
      world.note("\(account.name): \(job) step \(index)")
      if case .goesOn = progress { continue }
      return progress
    }
    return .done(.failure(Self.gone))
  }

  @discardableResult
  private func done(_ job: SimulatedDisk.Job) async throws(AccessFailure) -> WriteTurn {
    let progress = await progress(job)
    if case .superseded = progress { return .superseded }
    guard case .done(let result) = progress else { throw Self.gone }
    try result.get()
    return .given
  }

  func remembered() async throws(AccessFailure) -> RememberedAccount { account.disk.remembered }

  func read() async -> CredentialReading {
    if case .read(let reading) = await progress(.read) { reading } else { .unreadable(Self.gone) }
  }

  func prepare(over version: StoredVersion) async throws(AccessFailure) -> WriteTurn {
    try await done(.prepare(.sample(0, issuedAt: .sample), generation: 0, over: version))
  }

  func write(_ credential: Credential, over version: StoredVersion) async throws(AccessFailure) -> WriteTurn {
    try await done(.write(credential, generation: 0, over: version))
  }

  func writeEnd(_ record: EndRecord) async throws(EndNotWritten) {
    do throws(AccessFailure) {
      try await done(.writeEnd(record))
    } catch {
      throw account.disk.notWritten(record, error)
    }
  }

  func remove(
    _ record: EndRecord, fingerprint: Fingerprint?, revokes _: Bool
  ) async throws(EndNotWritten) -> RemovedCredentials {
    let current = account.disk.openGrant
    do throws(AccessFailure) {
      try await done(.remove(record, fingerprint))
    } catch {
      throw account.disk.notWritten(record, error)
    }
    return RemovedCredentials(current: current)
  }

  func setAside() async throws(AccessFailure) -> String {
    try await done(.setAside)
    return "set-aside"
  }

  func remember(_ note: TokenNote) async throws(AccessFailure) { try await done(.note(note)) }

  func remember(lockedByUser: Bool) async throws(AccessFailure) {
    try await done(.remember(lockedByUser: lockedByUser))
  }
  func needsPassphrase() async -> Bool { false }
  func unlock(passphrase: Secret) async throws(Failure) -> Bool { false }
  func lock() async {}
  func changes() -> AsyncStream<Void> { AsyncStream { _ in } }
}

/// The way to an account's provider, and back.
final class SimulatedTokenEndpoint: TokenEndpoint, @unchecked Sendable {
  private let account: SimulatedAccount
  private unowned let world: OutboxSimulation
  private let daemon: Int

  init(_ account: SimulatedAccount, in world: OutboxSimulation, of daemon: Int) {
    self.account = account
    self.world = world
    self.daemon = daemon
  }

  func refresh(_ credential: Credential) async throws(RefreshFailure) -> TokenResponse {
    guard world.lives(daemon) else { throw .unavailable(message: "the daemon is gone", retryAfter: nil) }
    guard credential.origin == .sample else { throw .misconfigured(message: "bound to another origin") }
    guard let token = credential.grant.refreshToken else {
      throw .misconfigured(message: "there is no refresh token")
    }
    if !account.refreshes.insert(token.fingerprint).inserted { world.violated("two refreshes overlap") }
    defer { if world.lives(daemon) { account.refreshes.remove(token.fingerprint) } }
    let fate = account.fate ?? world.number(0...11)
    world.note("\(account.name): refreshes, \(account.mood) \(fate)")
    let isLost: Bool
    defer { if account.mood != .strange { account.unclearSince = nil } }
    switch account.mood {
    case .down:
      throw fate < 8
        ? .unavailable(message: "down", retryAfter: nil) : .unavailable(message: "429", retryAfter: .seconds(fate * 40))
    case .strange where fate < 5:
      // Said again ten seconds later, it is believed.
      if let first = account.unclearSince, world.elapsed - first >= .seconds(10) {
        account.grounds.insert(.refreshTokenRejected)
      }
      account.unclearSince = account.unclearSince ?? world.elapsed
      throw .unclear(message: "400", retryAfter: nil)
    case .misconfigured where fate < 8: throw .misconfigured(message: "invalid_client")
    case .fine where fate == 0: throw .unavailable(message: "503", retryAfter: nil)
    case .lossy where fate < 3: throw .unanswered(message: "reset")
    case .lossy: isLost = fate < 6
    case .fine, .strange, .misconfigured: isLost = false
    }
    if !world.isOnline { throw .unreachable(message: "no route") }
    await world.travel(world.latency / 2, daemon)
    guard world.lives(daemon) else { throw .unanswered(message: "the daemon is gone") }
    let response: TokenResponse
    do throws(SimulatedProvider.Refusal) {
      response = try account.provider.refresh(token, at: world.elapsed)
    } catch {
      account.grounds.insert(.refreshTokenRejected)
      throw .rejected(.refreshToken, message: "invalid_grant")
    }
    world.note("\(account.name): is issued \(response.accessToken.fingerprint)")
    account.issued(response.accessToken, to: response.subject ?? .sample, at: world.elapsed)
    await world.travel(world.latency / 2, daemon)
    if isLost || Task.isCancelled { throw .unanswered(message: "reset") }
    account.tokens[response.accessToken.fingerprint]?.heldSince = world.elapsed
    return response
  }

  func revoke(_ credential: Credential) async -> RevocationOutcome {
    guard world.lives(daemon), world.isOnline, account.mood != .down, credential.origin == .sample else {
      return .unavailable(retryAfter: nil)
    }
    account.provider.revoke(credential.grant.refreshToken ?? credential.grant.accessToken)
    return .revoked
  }

  func expiry(of token: Token, at now: Timestamp) -> Timestamp? { nil }

  func time() async throws(RefreshFailure) -> Timestamp {
    await world.travel(world.latency, daemon)
    guard world.lives(daemon), world.isOnline else { throw .unreachable(message: "no route") }
    return Timestamp.sample + world.elapsed
  }

  func origin() async -> Origin? { .sample }

  func identify(_ credential: Credential) async -> Subject? {
    await world.travel(world.latency, daemon)
    guard world.lives(daemon) else { return nil }
    return account.provider.subject(of: credential.grant.accessToken.fingerprint)
  }
}
