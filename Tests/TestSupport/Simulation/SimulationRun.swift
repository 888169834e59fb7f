import FoundationEssentials

/// Many histories of one simulation, or one that is replayed.
///
/// - `HEARTH_SIMULATION_SEEDS`: how many histories there are in all, in place of the test's own number.
/// - `HEARTH_SIMULATION_FIRST`: the seed that they begin with, so that a long run can be done in parts; 0 if it is absent.
/// - `HEARTH_SIMULATION_SEED`: this history alone, with its trace. The order of a `Set` is part of a history too: it comes
///   again with `SWIFT_DETERMINISTIC_HASHING=1`.
package struct SimulationRun<Simulated: Simulation>: Sendable {
  /// How many there were.
  package private(set) var histories = 0
  package private(set) var violations: [String] = []
  package private(set) var tally = Tally<Simulated.Tallied>()
  /// Only one was asked for, which proves nothing of the world.
  package private(set) var isReplay = false

  /// Those of `chunk`. Where their number was asked for, chunks run beside each other.
  package static func run(_ chunk: Int, of count: UInt64) async throws -> SimulationRun {
    if let seed = number("HEARTH_SIMULATION_SEED") {
      return try await onThread { chunk == 0 ? replay(seed) : SimulationRun(isReplay: true) }
    }
    guard let asked = number("HEARTH_SIMULATION_SEEDS") else {
      return try await inTurn { play(stride(from: UInt64(chunk), to: count, by: simulationChunks.count)) }
    }
    let first = number("HEARTH_SIMULATION_FIRST") ?? 0
    let seeds = stride(from: first + UInt64(chunk), to: first + asked, by: simulationChunks.count)
    let run = try await onThread { play(seeds) }
    print("\(chunk + 1)/\(simulationChunks.count): \(run.histories) histories from \(first) on, \(run.tally)")
    return run
  }

  private static func play(_ seeds: StrideTo<UInt64>) -> SimulationRun {
    var run = SimulationRun()
    for seed in seeds { run.add(Simulated(seed: seed, isTraced: false), seed) }
    return run
  }

  private static func replay(_ seed: UInt64) -> SimulationRun {
    var run = SimulationRun(isReplay: true)
    run.add(Simulated(seed: seed, isTraced: true), seed)
    return run
  }

  private mutating func add(_ history: consuming Simulated, _ seed: UInt64) {
    do throws(Violation) {
      try history.run()
    } catch {
      violations.append("\(error)\nReplay with SWIFT_DETERMINISTIC_HASHING=1 HEARTH_SIMULATION_SEED=\(seed)")
    }
    histories += 1
    tally += history.tally
    history.trace?.lines.forEach { print($0) }
  }

  private static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
  }
}

/// The parts that a simulation is run in.
package let simulationChunks = 0..<2
