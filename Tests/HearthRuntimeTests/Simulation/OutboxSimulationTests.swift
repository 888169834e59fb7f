import TestSupport
import Testing

@Suite("The outbox and its sessions in a world where everything goes wrong", .enabled(if: isRepeatable))
struct OutboxSimulationTests {
  /// Histories that break a rule today: the issue "The simulation's own verdict".
  private static let known: Set<UInt64> = []

  @Test("keep every rule after every step, whatever happens", arguments: simulationChunks)
  func keepsTheRules(chunk: Int) async throws {
    let run = try await SimulationRun<OutboxSimulation>.run(chunk, of: 6, known: Self.known)
    for violation in run.violations { Issue.record("\(violation)") }
    guard !run.isReplay else { return }
    let tally = run.tally
    #expect(tally[.crash] > run.histories / 2 && tally[.item("delivered")] > 2 * run.histories)
  }
}
