/// What APIs have lately answered to the tokens of one sign-in. This distinguishes a path that refuses every token from
/// a token that is no longer accepted (contract, section 3). Times are steady: setting the clock does not change them.
package struct RecentVerdicts: Hashable, Sendable {
  private struct Acceptance: Hashable, Sendable {
    let token: Fingerprint
    let at: Timestamp
  }

  private struct Refusal: Hashable, Sendable {
    let token: Fingerprint
    /// Whether the path refused another token before, and accepted none in between.
    let isRepeated: Bool
  }

  /// How long a 2xx answer counts for later tokens of its sign-in.
  static let acceptanceLifetime: Duration = .seconds(600)
  /// The number of refusing paths that are remembered. Beyond that, all are forgotten.
  private static let maxPaths = 64

  private var accepted: [Origin: Acceptance] = [:]
  /// The last refusal of each path that refuses tokens. A path is a URL without its query.
  private var refused: [Substring: Refusal] = [:]

  package init() {}

  /// Called when this URL was answered 2xx.
  package mutating func accepted(_ token: Fingerprint, by url: HTTPURL, at now: Timestamp) {
    accepted[url.origin] = Acceptance(token: token, at: now)
    if !refused.isEmpty { refused[Self.path(url)] = nil }
  }

  /// Called when a 401 is reported. Returns the report with what is known about its API and path.
  package mutating func judge(_ rejection: APIRejection, at now: Timestamp) -> APIRejection {
    var rejection = rejection
    let recent = accepted.filter { now - $0.value.at < Self.acceptanceLifetime }
    let isAccepted = recent.contains { origin, acceptance in
      rejection.origin == nil || rejection.origin == origin || acceptance.token == rejection.fingerprint
    }
    if isAccepted { rejection.isAcceptedElsewhere = true }
    guard let url = rejection.url else { return rejection }
    let last = refused[Self.path(url)]
    let isRepeated = last.map { $0.isRepeated || $0.token != rejection.fingerprint } ?? false
    if refused.count >= Self.maxPaths, last == nil { refused = [:] }
    refused[Self.path(url)] = Refusal(token: rejection.fingerprint, isRepeated: isRepeated)
    rejection.isRepeated = isRepeated
    rejection.isOfPath = isRepeated && recent[url.origin]?.token == rejection.fingerprint
    return rejection
  }

  private static func path(_ url: HTTPURL) -> Substring { url.description.prefix { $0 != "?" } }
}
