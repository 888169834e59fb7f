/// The recent responses of APIs to the tokens of one sign-in. They distinguish a path that rejects every token from a
/// token that is no longer valid. Setting the clock does not affect them.
package struct RecentVerdicts: Sendable {
  /// How long a 2xx counts in favor of the tokens of the same sign-in.
  static let acceptanceLifetime: Duration = .seconds(600)
  /// The maximum number of paths to remember. Before another path is added, all are forgotten.
  private static let maxPaths = 64

  private var accepted: [Origin: (token: Fingerprint, at: Timestamp)] = [:]
  /// The last rejection by each path. A path is a URL without its query. `isRepeated` is true if the path had already
  /// rejected another token and has accepted no token since.
  private var refused: [Substring: (token: Fingerprint, isRepeated: Bool)] = [:]

  package init() {}

  /// Records that the token got a 2xx from this URL.
  package mutating func accepted(_ token: Fingerprint, by url: HTTPURL, at now: Timestamp) {
    accepted[url.origin] = (token, now)
    if !refused.isEmpty { refused[Self.path(url)] = nil }
  }

  /// Records a 401, and returns it with what is known about its API and path.
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
    refused[Self.path(url)] = (rejection.fingerprint, isRepeated)
    rejection.isRepeated = isRepeated
    rejection.isOfPath = isRepeated && recent[url.origin]?.token == rejection.fingerprint
    return rejection
  }

  private static func path(_ url: HTTPURL) -> Substring { url.description.prefix { $0 != "?" } }
}
