import TestSupport
import Testing

@Suite("The session in a world where everything goes wrong", .enabled(if: isRepeatable))
struct SessionSimulationTests {
  @Test("keeps every rule after every step, whatever happens", arguments: simulationChunks)
  func keepsTheRules(chunk: Int) async throws {
    let run = try await SimulationRun<SessionSimulation>.run(chunk, of: 100)
    for violation in run.violations { Issue.record("\(violation)") }
    guard !run.isReplay else { return }
    let tally = run.tally
    #expect(tally[.readyToken] > run.histories / 10)
    #expect(tally[.refreshed] > run.histories * 2 / 5 && tally[.crash] > run.histories * 2 / 5)
    #expect(tally[.reload] > run.histories)
    guard run.showsRareThings else { return }
    #expect(tally[.superseded] > run.histories / 50 && tally[.putBack] > run.histories / 50)
    #expect(tally[.leftover] > run.histories / 50 && tally[.broughtGrant] > run.histories / 8)
    #expect(tally[.unusedGrant] > 0 && tally[.interruptedSignIn] > run.histories / 50)
  }
}
