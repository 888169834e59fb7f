import FoundationEssentials
import HTTPTypes
import Hummingbird
import Synchronization

extension Sandbox {
  static let sessionCookie = "sandbox_session"

  /// Handles the authorization endpoint (RFC 6749, section 3.1). The user logs in if necessary and must then consent.
  func authorize(_ call: Call) throws -> Response {
    do {
      let request = try authorizationRequest(call.method == .post ? call.fields : call.query)
      let login = loggedIn(call)
      if request.prompts.contains(.none) {
        // Fail even if a user is logged in. Consent is always required, because clients on loopback addresses cannot be
        // told apart (RFC 8252, section 8.6).
        let error =
          login == nil
          ? ErrorBody("login_required", "Nobody is logged in.")
          : ErrorBody("consent_required", "The user must give consent.")
        throw AuthorizationRequest.Refusal(error: error, redirectURI: request.redirectURI, state: request.state)
      }
      return ask(.authorization(request), call)
    } catch let error as ErrorBody {
      return Page.message("This link does not work", error.errorDescription).response(.badRequest)
    } catch let refusal as AuthorizationRequest.Refusal {
      let error = refusal.error
      return sendBack(
        to: refusal.redirectURI, [("error", error.error), ("error_description", error.errorDescription)],
        state: refusal.state, .found)
    }
  }

  private func authorizationRequest(_ fields: [String: String]) throws -> AuthorizationRequest {
    if let uri = fields["request_uri"] {
      guard let request = state.withLock({ $0.pushed.take(uri, clientID: fields["client_id"], at: now) }) else {
        throw ErrorBody("invalid_request", "The request_uri is unknown, has already been used, or has expired.")
      }
      return request
    }
    let request = try knownRequest(fields)
    guard !settings.requirePushedRequests else {
      let error = ErrorBody("invalid_request", "The request must be pushed first.")
      throw AuthorizationRequest.Refusal(error: error, redirectURI: request.redirectURI, state: request.state)
    }
    return request
  }

  /// Parses a request. A registered client may use only its registered redirect URIs, with any port. Other clients may
  /// use any redirect URI.
  private func knownRequest(_ fields: [String: String]) throws -> AuthorizationRequest {
    let request = try AuthorizationRequest(fields, wantedClient: settings.clientID)
    let known = state.withLock { $0.clients.byID[request.clientID] }
    guard known?.redirects.contains(RegisteredClients.withoutPort(request.redirectURI.text)) ?? true else {
      throw ErrorBody("invalid_request", "The client has not registered this redirect_uri.")
    }
    return request
  }

  /// Handles a pushed authorization request (RFC 9126, section 2).
  func pushRequest(_ call: Call) throws -> Response {
    let client = try authenticatedClient(call)
    var fields = call.fields
    guard fields["request_uri"] == nil else { throw ErrorBody("invalid_request", "A request_uri cannot be pushed.") }
    fields["client_id"] = client
    do {
      let request = try knownRequest(fields)
      let uri = state.withLock { $0.pushed.add(request, at: now) }
      return .json(
        ["request_uri": .text(uri), "expires_in": .number(Int(PushedRequests.lifetime))] as [String: Value],
        status: .created)
    } catch let refusal as AuthorizationRequest.Refusal {
      throw refusal.error
    }
  }

  func logIn(_ call: Call) -> Response {
    let fields = call.fields
    guard let ticket = fields["ticket"], state.withLock({ $0.interactions.question(of: ticket, at: now) }) != nil else {
      return Self.tooLate
    }
    let name = fields["username"] ?? ""
    guard !name.isEmpty, fields["password"] == settings.password else {
      return Page.login(ticket: ticket, hint: name, problem: "The user name or the password is wrong.")
        .response(.unauthorized)
    }
    let cookie = state.withLock { $0.interactions.logIn(name, at: now) }
    return .redirect(
      .seeOther, to: Endpoint.consent.rawValue + "?ticket=" + percentEncoded(ticket),
      headers: [.setCookie: "\(Self.sessionCookie)=\(cookie); Path=/; HttpOnly; SameSite=Lax"])
  }

  /// Shows the consent page and handles its form.
  func consent(_ call: Call) -> Response {
    let fields = call.method == .post ? call.fields : call.query
    guard let ticket = fields["ticket"], let open = state.withLock({ $0.interactions.question(of: ticket, at: now) })
    else { return Self.tooLate }
    guard let login = loggedIn(call), open.accepts(login) else { return loginPage(ticket, open.question) }
    guard call.method == .post, let decision = fields["decision"] else {
      return Page.consent(ticket: ticket, question: open.question, subject: login.subject).response()
    }
    state.withLock { $0.interactions.end(ticket) }
    let isAllowed = decision == "allow" && call.mistake != .denied
    switch open.question {
    case .device(let waiting): return decide(waiting, isAllowed ? login : nil)
    case .authorization(let request):
      guard isAllowed else {
        return sendBack(
          to: request.redirectURI, [("error", "access_denied"), ("error_description", "The user declined.")],
          state: request.state, .seeOther, mistake: call.mistake)
      }
      let code = state.withLock { state in
        let code = state.codes.issue(for: request, by: login, at: now)
        state.provider.issued.append(code)
        return code
      }
      return sendBack(
        to: request.redirectURI, call.mistake == .noCode ? [] : [("code", code)], state: request.state, .seeOther,
        mistake: call.mistake)
    }
  }

  /// Logs the user out and revokes the client's grants (OpenID Connect RP-Initiated Logout 1.0, section 2). An ID token
  /// from this provider identifies the user and the client.
  func endSession(_ call: Call) -> Response {
    let fields = call.method == .post ? call.fields : call.query
    let isEnded = state.withLock { state in
      guard let subject = state.provider.endSession(idToken: fields["id_token_hint"] ?? "") else { return false }
      state.interactions.logOut(subject)
      state.statistics.sessionsEnded += 1
      return true
    }
    guard isEnded else {
      return Page.message("You are still signed in", "It is not clear which session to end.").response(.badRequest)
    }
    guard let back = fields["post_logout_redirect_uri"].flatMap(RedirectURI.init) else {
      return Page.message("You are signed out", "You can close this page.").response()
    }
    return .redirect(.found, to: fields["state"].map { back.adding([("state", $0)]) } ?? back.text)
  }

  /// Shows the login page if the user has to log in. Otherwise shows the consent page.
  func ask(_ question: Interactions.Question, _ call: Call) -> Response {
    let login = loggedIn(call)
    let (ticket, open) = state.withLock { state in
      let ticket = state.interactions.begin(question, at: now)
      return (ticket, state.interactions.question(of: ticket, at: now))
    }
    guard let login, open?.accepts(login) == true else { return loginPage(ticket, question) }
    return Page.consent(ticket: ticket, question: question, subject: login.subject).response()
  }

  private func loggedIn(_ call: Call) -> Login? {
    state.withLock { $0.interactions.login(of: call.cookie(Self.sessionCookie)) }
  }

  private func loginPage(_ ticket: String, _ question: Interactions.Question) -> Response {
    let hint =
      switch question {
      case .authorization(let request): request.loginHint
      case .device: String?.none
      }
    return Page.login(ticket: ticket, hint: hint).response()
  }

  private static var tooLate: Response {
    Page.message("This page has expired", "Start again in the program that you are signing in to.")
      .response(.badRequest)
  }

  /// Redirects the browser to the client with the issuer's name (RFC 9207, section 2).
  private func sendBack(
    to redirectURI: RedirectURI, _ fields: [(String, String)], state: String?, _ status: HTTPResponse.Status,
    mistake: Mistake? = nil
  ) -> Response {
    var fields = fields
    if let state, mistake != .noState { fields.append(("state", mistake == .wrongState ? "another" : state)) }
    if mistake != .noIss { fields.append(("iss", mistake == .wrongIss ? "https://another.example" : issuer.url)) }
    return .redirect(status, to: redirectURI.adding(fields))
  }
}
