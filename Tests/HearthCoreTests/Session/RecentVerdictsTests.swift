import TestSupport
import Testing

@testable import HearthCore

@Suite("What APIs have lately answered") struct RecentVerdictsTests {
  private let first = Token.sample(1).fingerprint
  private let second = Token.sample(2).fingerprint
  private let start = Timestamp.sample

  private func url(_ path: String, at origin: Origin = Sample.origin) throws -> HTTPURL {
    try HTTPURL("\(origin)\(path)")
  }

  @Test("an API that accepted a token of the sign-in counts for its later ones for ten minutes, but for no other API's")
  func acceptance() throws {
    var verdicts = RecentVerdicts()
    verdicts.accepted(first, by: try url("/good"), at: start)
    let last = start + .seconds(600) - .milliseconds(1)
    let (here, elsewhere) = (try url("/bad"), try url("/bad", at: Sample.secondOrigin))
    #expect(verdicts.judging(APIRejection(second, at: here), at: last).isAcceptedElsewhere)
    #expect(!verdicts.judging(APIRejection(second, at: here), at: start + .seconds(600)).isAcceptedElsewhere)
    #expect(!verdicts.judging(APIRejection(second, at: elsewhere), at: start).isAcceptedElsewhere)
    #expect(verdicts.judging(APIRejection(first, at: elsewhere), at: start).isAcceptedElsewhere, "the very token")
    #expect(verdicts.judging(APIRejection(second), at: last).isAcceptedElsewhere, "a client names no URL")
    #expect(!RecentVerdicts().judging(APIRejection(second), at: start).isAcceptedElsewhere)
  }

  @Test("a path that refuses two tokens without accepting one in between refuses every one, while others are accepted")
  func path() throws {
    var verdicts = RecentVerdicts()
    func isOfPath(_ token: Fingerprint, _ path: String = "/bad?page=1") throws -> Bool {
      verdicts.judge(APIRejection(token, at: try url(path)), at: start).isOfPath
    }
    verdicts.accepted(first, by: try url("/good"), at: start)
    #expect(try !isOfPath(first) && !isOfPath(first), "it may be the token")
    #expect(try !isOfPath(second), "nobody has accepted the second one yet")
    verdicts.accepted(second, by: try url("/good"), at: start)
    #expect(try isOfPath(second, "/bad?page=2") && !isOfPath(second, "/good"))
    verdicts.accepted(second, by: try url("/bad"), at: start)
    #expect(try !isOfPath(second))
  }

  @Test("only a limited number of paths is remembered")
  func paths() throws {
    var verdicts = RecentVerdicts()
    verdicts.accepted(second, by: try url("/good"), at: start)
    for number in 0..<64 { _ = verdicts.judge(APIRejection(first, at: try url("/\(number)")), at: start) }
    #expect(verdicts.judging(APIRejection(second, at: try url("/0")), at: start).isOfPath)
    _ = verdicts.judge(APIRejection(first, at: try url("/one-more")), at: start)
    #expect(!verdicts.judging(APIRejection(second, at: try url("/1")), at: start).isOfPath)
  }

  // MARK: - What the session does

  private func rejection(_ number: Int, isOfPath: Bool = false) -> APIRejection {
    var rejection = APIRejection(Token.sample(number).fingerprint, isAcceptedElsewhere: true)
    rejection.isOfPath = isOfPath
    return rejection
  }

  /// A session whose first token was rejected and replaced, by an API that accepts its tokens.
  private func replaced() -> SessionScript {
    var session = SessionScript.holding()
    session.asks(.reportUnauthorized(rejection(1)))
    session.isGranted(.sample(2))
    session.writes()
    return session
  }

  @Test("forces at most one refresh a minute while the API accepts the session's tokens, and ends nothing")
  func onceAMinute() {
    var session = replaced()
    for wait in [0, 30, 29] {
      session.passes(.seconds(wait))
      #expect(session.keepsToken(after: rejection(2)) == true, "the 401 is the request's own answer")
    }
    #expect(session.attempts.count == 1 && session.token == .sample(2) && session.state == .authenticated)
    session.passes(.seconds(1))
    session.asks(.reportUnauthorized(rejection(2)))
    #expect(session.attempts.count == 2)
  }

  @Test("forces no refresh if the path refuses every token and the API accepts this one")
  func ofPath() {
    var session = SessionScript.holding()
    for _ in 0..<3 {
      #expect(session.keepsToken(after: rejection(1, isOfPath: true)) == true)
      session.passes(.seconds(100))
    }
    #expect(session.attempts.isEmpty && session.token == .sample(1))
  }

  @Test("a refresh that fails leaves the 401 undecided")
  func failedRefresh() {
    var session = SessionScript.holding()
    let id = session.asks(.reportUnauthorized(rejection(1)))
    session.fails(.unavailable(message: "503", retryAfter: nil))
    #expect(session.answer(to: id) == .done)
    #expect(session.answer(asking: .reportUnauthorized(rejection(1))) == .done)
  }
}

extension RecentVerdicts {
  fileprivate func judging(_ rejection: APIRejection, at now: Timestamp) -> APIRejection {
    var copy = self
    return copy.judge(rejection, at: now)
  }
}
