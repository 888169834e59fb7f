import TestSupport
import Testing

@Suite("The outbox's machine in a world where everything goes wrong", .enabled(if: isRepeatable))
struct OutboxSimulationTests {
  @Test("keeps every rule after every step, whatever happens", arguments: simulationChunks)
  func keepsTheRules(chunk: Int) async throws {
    let run = try await SimulationRun<OutboxSimulation>.run(chunk, of: 100)
    for violation in run.violations { Issue.record("\(violation)") }
    guard !run.isReplay else { return }
    let tally = run.tally
    #expect(tally[.crash] > run.histories / 5)
    #expect(tally[.stop] > run.histories / 2 && tally[.item("delivered")] > 2 * run.histories)
    guard run.showsRareThings else { return }
    #expect(tally[.powerLoss] > run.histories / 20 && tally[.override] > run.histories / 20)
  }
}
