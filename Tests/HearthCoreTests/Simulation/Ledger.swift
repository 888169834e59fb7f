import TestSupport

@testable import HearthCore

/// What the simulated world knows and the machine must not contradict.
struct Ledger {
  /// Access tokens that have been on disk.
  var durable: Set<Fingerprint> = []
  /// This machine's grants that have been on disk, in order.
  var own: [Credential] = []
  /// Refresh tokens that were signed out, and not signed in with again.
  var signedOut: Set<Fingerprint> = []
  /// Refresh tokens whose answer was lost in a crash: the provider may treat the next use as reuse.
  var excused: Set<Fingerprint> = []
  /// Families of tokens in which an answer was lost since their newest token was last known here.
  var excusedFamilies: Set<Int> = []
  /// Refresh tokens whose answer has arrived.
  var spent: Set<Fingerprint> = []
  /// Why a session may end now.
  var grounds: Set<EndReason> = []
  /// The newest refresh token that reached this machine, or `nil` if none has to be kept.
  var newest: Fingerprint?
  /// Refresh tokens that were refused for good in this run of the process, and those whose end is on record.
  var refused: Set<Fingerprint> = []
  var refusedOnRecord: Set<Fingerprint> = []
  var adopting: Set<Credential> = []
  var signOutAsked = false
  /// Whether the last store work of its kind failed, so that its record may be missing.
  var endFailed = false
  var removalFailed = false
  /// Whether somebody else changed the file since this machine last wrote it.
  var isTampered = false
  /// Access tokens of other programs' grants that this machine has not taken over yet.
  var strangers: Set<Fingerprint> = []
  var inFlight = 0
  var lastAttemptAt: Duration?
  /// The attempt before the last, which counts again if nothing was sent.
  var attemptBefore: Duration?
  var isRepetition = false
  var lastReading: CredentialReading?
  private var reported: Set<Fingerprint> = []
  var tokenBefore: [Fingerprint: Fingerprint] = [:]
  /// The request whose answer is being delivered, with what the provider has really done.
  var answered: SessionSimulation.Flight?
  /// Whether something has hindered refreshes since the last one that succeeded.
  var hadTrouble = true { didSet { if hadTrouble { isQuietSinceSending = false } } }
  /// Whether nothing has done so since the request under way was sent.
  var isQuietSinceSending = false
  var hasClockStepped = false
  /// Whether the grant in use was read while a clock was wrong, and seems to last longer than it does.
  var seemsYounger = false
  /// The access tokens of all grants that have ever seemed younger.
  var younger: Set<Fingerprint> = []
  /// The access token of the grant whose times an earlier process of this boot has recorded.
  var counted: Fingerprint?
  /// The access tokens of grants whose refresh was answered for another user, if nobody has signed in since.
  var barred: Set<Fingerprint> = []
  /// The token that an API had rejected when this process began, until it is reported again or another one is in use.
  var rejected: Fingerprint?
  /// Until when the network's return must not shorten another wait.
  var shortenedUntil: Timestamp?
  /// Tokens that came for another user.
  var others: Set<Fingerprint> = []

  mutating func signedIn(with grant: Grant?) {
    seemsYounger = false
    if let grant { barred.remove(grant.accessToken.fingerprint) }
  }

  func isBarred(_ grant: Grant) -> Bool { barred.contains(grant.accessToken.fingerprint) }

  /// `isRenewable` is true if a refresh could bring another token. `age` is the time since the provider issued it.
  mutating func noteReport(of token: Fingerprint, current: Fingerprint, isRenewable: Bool, age: Duration?) {
    guard token == current else { return }
    // Two minutes, and the time that the answer was under way.
    let isFresh = hasClockStepped || age.map { $0 <= .seconds(120 + 45) } ?? true
    let isAgain = tokenBefore[token].map(reported.contains) ?? false
    if isFresh, isAgain || !isRenewable { grounds.insert(.rejectedByServer) }
    reported.insert(token)
    if token == rejected { rejected = nil }
  }

  mutating func noteActive(in machine: SessionMachine) {
    if let token = machine.active?.grant.accessToken.fingerprint, token != rejected { rejected = nil }
  }
}
