import FoundationEssentials
import TestSupport
import Testing

@Suite("The outbox's machine in a world where everything goes wrong")
struct OutboxSimulationTests {
  private static let chunks = 2

  private static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
  }

  /// HEARTH_SIMULATION_SEEDS: how many seeds are run, 100 where it is not set. HEARTH_SIMULATION_SEED: this one alone,
  /// with a trace.
  @Test("keeps every rule after every step, whatever happens", arguments: 0..<chunks)
  func keepsTheRules(chunk: Int) async throws {
    if let seed = Self.number("HEARTH_SIMULATION_SEED") {
      if chunk == 0 { try await onThread { Self.replay(seed) } }
      return
    }
    let count = Self.number("HEARTH_SIMULATION_SEEDS") ?? 100
    let tally = try await onThread { Self.run(chunk, of: count) }
    if Self.number("HEARTH_SIMULATION_SEEDS") != nil { print("\(chunk + 1)/\(Self.chunks): \(tally)") }
    // A world in which nothing happens proves nothing.
    #expect(tally.crashes > Int(count) / 8 && tally.powerLosses > Int(count) / 50 && tally.stops > Int(count) / 4)
    #expect(tally.states["delivered", default: 0] > Int(count))
  }

  private static func run(_ chunk: Int, of count: UInt64) -> OutboxTally {
    var tally = OutboxTally()
    for seed in stride(from: UInt64(chunk), to: count, by: chunks) {
      let simulation = OutboxSimulation(seed: seed)
      do throws(Violation) {
        try simulation.run()
      } catch {
        Issue.record("\(error)\nReplay with HEARTH_SIMULATION_SEED=\(seed)")
      }
      tally += simulation.tally
    }
    return tally
  }

  private static func replay(_ seed: UInt64) {
    let simulation = OutboxSimulation(seed: seed, isTraced: true)
    do throws(Violation) {
      try simulation.run()
    } catch {
      Issue.record("\(error)")
    }
    simulation.trace?.lines.forEach { print($0) }
  }
}
