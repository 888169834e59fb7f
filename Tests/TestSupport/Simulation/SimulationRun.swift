import FoundationEssentials

/// Many histories of one simulation, or one that is replayed.
///
/// - `HEARTH_SIMULATION_SEEDS`: how many histories there are in all, in place of the test's own number.
/// - `HEARTH_SIMULATION_FIRST`: the seed that they begin with, so that a long run can be done in parts; 0 if it is absent.
/// - `HEARTH_SIMULATION_SEED`: this history alone, with its trace.
///
/// The order of a `Set` is part of a history: it comes again only with `SWIFT_DETERMINISTIC_HASHING=1`.
package struct SimulationRun<Simulated: Simulation>: Sendable {
  /// How many there were.
  package private(set) var histories = 0
  package private(set) var violations: [String] = []
  package private(set) var tally = Tally<Simulated.Tallied>()
  /// Only one was asked for, which proves nothing of the world.
  package private(set) var isReplay = false
  /// Whether there were so many that what is rare must have happened, and not only by chance.
  package var showsRareThings: Bool { histories >= 500 }

  /// Those of `chunk`. If their number was asked for, chunks run beside each other.
  ///
  /// `known` are seeds whose histories break a rule today. They are played after the first `count`, and a history among
  /// them that has become clean is a violation too: its seed must leave the list.
  package static func run(_ chunk: Int, of count: UInt64, known: Set<UInt64> = []) async throws -> SimulationRun {
    if let seed = number("HEARTH_SIMULATION_SEED") {
      return try await onThread { chunk == 0 ? replay(seed) : SimulationRun(isReplay: true) }
    }
    guard let asked = number("HEARTH_SIMULATION_SEEDS") else {
      let listed = known.sorted().filter { $0 >= count && Int($0) % simulationChunks.count == chunk }
      let seeds = Array(stride(from: UInt64(chunk), to: count, by: simulationChunks.count)) + listed
      return try await inTurn { play(seeds, known) }
    }
    let first = number("HEARTH_SIMULATION_FIRST") ?? 0
    let seeds = stride(from: first + UInt64(chunk), to: first + asked, by: simulationChunks.count)
    let run = try await onThread { play(seeds, known) }
    print("\(chunk + 1)/\(simulationChunks.count): \(run.histories) histories from \(first) on, \(run.tally)")
    return run
  }

  private static func play(_ seeds: some Sequence<UInt64>, _ known: Set<UInt64>) -> SimulationRun {
    var run = SimulationRun()
    for seed in seeds { run.add(Simulated(seed: seed, isTraced: false), seed, isKnown: known.contains(seed)) }
    return run
  }

  private static func replay(_ seed: UInt64) -> SimulationRun {
    var run = SimulationRun(isReplay: true)
    run.add(Simulated(seed: seed, isTraced: true), seed, isKnown: false)
    return run
  }

  private mutating func add(_ history: consuming Simulated, _ seed: UInt64, isKnown: Bool) {
    do throws(Violation) {
      try history.run()
      if isKnown { violations.append("The history of seed \(seed) is clean now: take it off the list of known ones.") }
    } catch {
      if !isKnown {
        violations.append("\(error)\nReplay with SWIFT_DETERMINISTIC_HASHING=1 HEARTH_SIMULATION_SEED=\(seed)")
      }
    }
    histories += 1
    tally += history.tally
    history.trace?.lines.forEach { print($0) }
  }
}

private func number(_ name: String) -> UInt64? {
  ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
}

/// Whether a seed is the same history each time. Simulations run only then: "make test" sees to it.
package let isRepeatable = number("SWIFT_DETERMINISTIC_HASHING") == 1

/// The parts that a simulation is run in.
package let simulationChunks = 0..<2
