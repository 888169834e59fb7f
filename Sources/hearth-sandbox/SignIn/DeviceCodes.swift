import FoundationEssentials

/// Device sign-ins. Each has a code for the device's polls and a code for the user to type (RFC 8628).
struct DeviceCodes: Codable, Sendable {
  static let grantType = "urn:ietf:params:oauth:grant-type:device_code"

  private enum Decision: Codable, Sendable {
    case none, allowed(Login), denied, redeemed
  }

  private struct Entry: Codable, Sendable {
    let clientID: String
    let scope: String
    let userCode: String
    let expiresAt: Date
    /// The minimum interval between polls in seconds. It grows by five each time the device polls too early.
    var interval: Double
    var polledAt: Date
    var decision = Decision.none
  }

  /// The response to a device (RFC 8628, section 3.2).
  struct Started: Codable, Sendable {
    let deviceCode, userCode, verificationUri, verificationUriComplete: String
    let expiresIn, interval: Int
  }

  /// A request that waits for the user's consent.
  struct Waiting: Codable, Hashable, Sendable {
    let clientID: String
    let scope: String
    let userCode: String
  }

  private var entries: [String: Entry] = [:]

  mutating func start(
    clientID: String, scope: String, page: String, lifetime: Double, interval: Double, at now: Date
  ) -> Started {
    let (device, user) = (randomToken("dc"), Self.userCode())
    entries[device] = Entry(
      clientID: clientID, scope: scope, userCode: user, expiresAt: now.addingTimeInterval(lifetime),
      interval: interval, polledAt: .distantPast)
    return Started(
      deviceCode: device, userCode: user, verificationUri: page, verificationUriComplete: "\(page)?user_code=\(user)",
      expiresIn: Int(lifetime), interval: Int(interval))
  }

  /// Returns eight letters for the user to type, in the form `BCDF-GHJK`. They are consonants, so that they do not form
  /// words (RFC 8628, section 6.1).
  private static func userCode() -> String {
    let letters = Array("BCDFGHJKLMNPQRSTVWXZ")
    func four() -> String { String((0..<4).compactMap { _ in letters.randomElement() }) }
    return four() + "-" + four()
  }

  /// Returns the sign-in that waits for this user code, or `nil` if there is none. Case and dashes are ignored.
  func waiting(for userCode: String, at now: Date) -> Waiting? {
    guard let entry = key(of: userCode, at: now).flatMap({ entries[$0] }) else { return nil }
    return Waiting(clientID: entry.clientID, scope: entry.scope, userCode: entry.userCode)
  }

  /// Records the user's decision. `login` is `nil` if the user refused. Returns false if no sign-in waits for the
  /// decision.
  mutating func decide(_ userCode: String, _ login: Login?, at now: Date) -> Bool {
    guard let key = key(of: userCode, at: now) else { return false }
    entries[key]?.decision = login.map(Decision.allowed) ?? .denied
    return true
  }

  /// Handles a device's poll (RFC 8628, sections 3.4 and 3.5).
  mutating func poll(
    _ deviceCode: String?, clientID: String?, mistake: Mistake?, at now: Date
  ) throws -> (scope: String, login: Login) {
    guard let deviceCode, let entry = entries[deviceCode], entry.clientID == clientID else {
      throw ErrorBody("invalid_grant", "The device code is unknown.")
    }
    guard now < entry.expiresAt, mistake != .expiredDeviceCode else {
      throw ErrorBody("expired_token", "The device code has expired.")
    }
    let isEarly = now.timeIntervalSince(entry.polledAt) < entry.interval
    entries[deviceCode]?.polledAt = now
    if isEarly || mistake == .slowDown {
      entries[deviceCode]?.interval += 5
      throw ErrorBody("slow_down", "The device polled too early.")
    }
    switch mistake == .denied ? .denied : entry.decision {
    case .none: throw ErrorBody("authorization_pending", "The user has not decided yet.")
    case .denied: throw ErrorBody("access_denied", "The user declined.")
    case .redeemed: throw ErrorBody("invalid_grant", "The device code has already been used.")
    case .allowed(let login):
      entries[deviceCode]?.decision = .redeemed
      return (entry.scope, login)
    }
  }

  private func key(of userCode: String, at now: Date) -> String? {
    func letters(_ code: String) -> String { code.uppercased().filter { $0.isLetter } }
    let wanted = letters(userCode)
    return entries.first { _, entry in
      guard case .none = entry.decision else { return false }
      return letters(entry.userCode) == wanted && now < entry.expiresAt
    }?.key
  }
}
