import FoundationEssentials

/// Who logged in, and when.
struct Login: Codable, Hashable, Sendable {
  let subject: String
  let at: Date
}

/// The users' logins and unanswered questions.
struct Interactions: Codable, Sendable {
  /// A request for the user's consent.
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

    /// Returns whether the login is recent enough, so that the user does not have to log in again.
    func accepts(_ login: Login) -> Bool {
      switch question {
      case .authorization(let request): !request.asksForLogin || login.at >= since
      case .device: true
      }
    }
  }

  /// How long the user has to answer, in seconds.
  static let timeout: Double = 600

  private var open: [String: Open] = [:]
  private var logins: [String: Login] = [:]

  /// Stores a question. Returns a ticket that identifies it in the pages' forms.
  mutating func begin(_ question: Question, at now: Date) -> String {
    open = open.filter { now.timeIntervalSince($1.since) < Self.timeout }
    let ticket = randomToken("ticket")
    open[ticket] = Open(question: question, since: now)
    return ticket
  }

  func question(of ticket: String, at now: Date) -> Open? {
    guard let found = open[ticket], now.timeIntervalSince(found.since) < Self.timeout else { return nil }
    return found
  }

  /// Removes a question, because it can be answered only once.
  mutating func end(_ ticket: String) { open[ticket] = nil }

  /// Logs the user in. Returns the cookie that identifies the login.
  mutating func logIn(_ subject: String, at now: Date) -> String {
    let cookie = randomToken("session")
    logins[cookie] = Login(subject: subject, at: now)
    return cookie
  }

  /// Logs the subject out in all browsers.
  mutating func logOut(_ subject: String) {
    logins = logins.filter { $0.value.subject != subject }
  }

  func login(of cookie: String?) -> Login? { cookie.flatMap { logins[$0] } }
}
