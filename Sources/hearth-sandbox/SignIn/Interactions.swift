import FoundationEssentials

/// A logged-in person, and the time of the login.
struct Login: Codable, Hashable, Sendable {
  let subject: String
  let at: Date
}

/// The logins and open questions in browsers.
struct Interactions: Codable, Sendable {
  /// A request for a person's consent.
  enum Question: Codable, Hashable, Sendable {
    case authorization(AuthorizationRequest)
    case device(DeviceCodes.Waiting)

    var clientID: String {
      switch self {
      case .authorization(let request): request.clientID
      case .device(let waiting): waiting.clientID
      }
    }

    var scope: String {
      switch self {
      case .authorization(let request): request.scope
      case .device(let waiting): waiting.scope
      }
    }
  }

  struct Open: Codable, Sendable {
    let question: Question
    let since: Date

    /// Whether this login suffices; otherwise the person must log in first.
    func accepts(_ login: Login) -> Bool {
      switch question {
      case .authorization(let request): !request.asksForLogin || login.at >= since
      case .device: true
      }
    }
  }

  /// How long a person may take, in seconds.
  static let timeout: Double = 600

  private var open: [String: Open] = [:]
  private var logins: [String: Login] = [:]

  /// Opens a question. Returns the ticket for the pages' forms.
  mutating func begin(_ question: Question, at now: Date) -> String {
    open = open.filter { now.timeIntervalSince($1.since) < Self.timeout }
    let ticket = RandomText.token("ticket")
    open[ticket] = Open(question: question, since: now)
    return ticket
  }

  func question(of ticket: String?, at now: Date) -> Open? {
    guard let ticket, let found = open[ticket], now.timeIntervalSince(found.since) < Self.timeout else { return nil }
    return found
  }

  /// Closes a question, which can be answered only once.
  mutating func end(_ ticket: String?) {
    if let ticket { open[ticket] = nil }
  }

  /// Logs a person in. Returns the cookie.
  mutating func logIn(_ subject: String, at now: Date) -> String {
    let cookie = RandomText.token("session")
    logins[cookie] = Login(subject: subject, at: now)
    return cookie
  }

  /// Logs the subject out in every browser.
  mutating func logOut(_ subject: String) {
    logins = logins.filter { $0.value.subject != subject }
  }

  func login(of cookie: String?) -> Login? { cookie.flatMap { logins[$0] } }
}
