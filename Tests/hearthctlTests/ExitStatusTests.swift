import HearthClient
import HearthControl
import HearthCore
import Testing

@testable import hearthctl

@Suite struct ExitStatusTests {
  @Test("a session's status has the exit status of what it needs")
  func sessions() {
    #expect(ExitStatus(Samples.session()) == .done)
    #expect(ExitStatus(Samples.session(health: .expiring)) == .done)
    #expect(ExitStatus(Samples.expired) == .later)
    #expect(ExitStatus(Samples.session(health: nil)) == .later)
    #expect(ExitStatus(Samples.locked) == .locked)
    #expect(ExitStatus(Samples.signedOut) == .signInNeeded)
    #expect(ExitStatus(Samples.session(state: .reauthRequired(.refreshTokenRejected), health: nil)) == .signInNeeded)
    #expect(ExitStatus(Samples.session(state: .hydrating, health: nil)) == .later)
    #expect(ExitStatus(ControlClient.Failure.unknownResult(method: "session.get")) == .failed)
    #expect(ExitStatus(ControlClient.Failure.forbidden(reason: "r")) == .noDaemon, "a sandbox without Unix sockets")
  }

  @Test(
    "an error has the exit status of what it asks for",
    arguments: [
      (1001, 3), (1002, 3), (1003, 4), (1004, 5), (1005, 1), (1006, 1), (1007, 5), (1008, 1), (1101, 5), (1102, 1),
      (1103, 1), (1104, 1), (1105, 5), (1201, 1), (1202, 1), (1203, 1), (1204, 1), (1205, 1), (1301, 4), (1302, 4),
      (-32000, 5),
      (-32001, 5), (-32602, 1), (-32603, 1), (4711, 1),
    ])
  func errors(code: Int, status: Int32) {
    #expect(ExitStatus(RPCError(code: code, message: "m")).rawValue == status)
  }

  @Test("an unknown error that says it is retryable may work later")
  func unknownError() {
    #expect(ExitStatus(RPCError(code: 4711, message: "m", data: ["retryable": true])) == .later)
  }

  @Test("the worst of several is what most needs somebody")
  func worst() {
    #expect(ExitStatus.worst([]) == .done)
    #expect(ExitStatus.worst([.done, .later]) == .later)
    #expect(ExitStatus.worst([.locked, .later, .done]) == .locked)
    #expect(ExitStatus.worst([.locked, .signInNeeded]) == .signInNeeded)
  }
}
