import HearthControl
import HearthCore
import TestSupport
import Testing

@testable import hearth_oidc_agent

@Suite("The lock of oidc-agent's clients", .timeLimit(.minutes(1)))
struct LockTests {
  /// A daemon with two accounts. The user has locked `locked`; `fresh` has no session.
  private func daemon(refusing refusal: RPCError? = nil) -> FakeDaemon {
    func session(_ name: String, _ state: SessionState) -> JSON {
      SessionStatus(
        account: AccountName(name)!, state: state, message: "So it is.", since: Timestamp(seconds: 1), isReadable: true
      ).json(at: Timestamp(seconds: 1))
    }
    let sessions: JSON = [
      "sessions": [session("fresh", .unauthenticated(signedOut: false)), session("locked", .locked(.explicit(.user)))]
    ]
    return FakeDaemon { request in
      if request.method == LockSessions.name, let refusal { return .error(refusal) }
      return .result(sessions)
    }
  }

  private func answer(_ agent: Agent, _ request: hearth_oidc_agent.Request) async throws -> Answer {
    try await onThread { agent.answer(request) }
  }

  @Test("locks every account at once, one without a session too, and unlocks those that the user had not locked")
  func all() async throws {
    let daemon = daemon()
    let agent = Agent(socket: daemon.path)
    #expect(try await answer(agent, .lock(Secret("a"))) == .success(info: "Agent locked"))
    #expect(daemon.asked.filter { $0.method == LockSessions.name }.map { $0.params["account"]?.string } == [nil])
    #expect(try await answer(agent, .loadedAccounts).json["error"] == "Agent locked")
    #expect(try await answer(agent, .unlock(Secret("a"))) == .success(info: "Agent unlocked"))
    #expect(daemon.asked.filter { $0.method == UnlockSessions.name }.map { $0.params["account"]?.string } == ["fresh"])
  }

  @Test("a lock that the daemon refuses is a failure, and locks nothing")
  func refused() async throws {
    let daemon = daemon(refusing: RPCError(.overloaded, message: "Too many calls."))
    let agent = Agent(socket: daemon.path)
    #expect(try await answer(agent, .lock(Secret("a"))).json["status"] == "failure")
    #expect(try await answer(agent, .loadedAccounts).json["status"] == "success")
    #expect(try await answer(agent, .unlock(Secret("a"))).json["error"] == "Agent not locked")
    #expect(daemon.asked.filter { $0.method == UnlockSessions.name }.map { $0.params["account"]?.string } == ["fresh"])
  }
}
