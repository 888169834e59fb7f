import ArgumentParser
import HearthControl
import HearthCore

/// Compares an outbox with few waiting items to one with many: the cost of each operation, and the time to READY.
struct OutboxScale: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "outbox-scale", abstract: "Compare the outbox with a thousand waiting items to one with a million.")

  @Option(help: "Items in the small outbox.")
  var small = 1000

  @Option(help: "Items in the large outbox.")
  var large = 1_000_000

  @Option(help: "Number of measurements of each operation.")
  var rounds = 1000

  @Option(help: "Number of starts of the daemon.")
  var starts = 15

  @OptionGroup var place: Place

  func run() async throws {
    let scratch = try Scratch(in: place.folder)
    var outboxes: [FilledOutbox] = []
    for count in [small, large] {
      let folder = scratch.makeFolder("\(outboxes.count)")
      let start = ContinuousClock.now
      outboxes.append(try await FilledOutbox(in: folder, count: count))
      print("\(count) items are in \(folder), after \((ContinuousClock.now - start) / .seconds(1)) s")
    }
    try await compareOperations(outboxes)
    let folders = outboxes.map(\.folder)
    // Closes the databases.
    outboxes = []
    try await compareStarts(folders)
  }

  private func compareOperations(_ outboxes: [FilledOutbox]) async throws {
    var samples = FilledOutbox.Operation.allCases.map { _ in [Sample(), Sample()] }
    for round in 0..<rounds + rounds / 10 {
      // The first operations are a warm-up.
      let counts = round >= rounds / 10
      for (index, operation) in FilledOutbox.Operation.allCases.enumerated() {
        for side in round.isMultiple(of: 2) ? [0, 1] : [1, 0] {
          let start = ContinuousClock.now
          try await outboxes[side].perform(operation)
          if counts { samples[index][side].add(ContinuousClock.now - start) }
        }
      }
    }
    print(Table.line("median of \(rounds)", "\(small)", "\(large)", "ratio"))
    for (operation, sides) in zip(FilledOutbox.Operation.allCases, samples) {
      let (few, many) = (sides[0].median, sides[1].median)
      print(
        Table.line(
          operation.rawValue, Table.microseconds(few), Table.microseconds(many), Table.ratio(many, to: few)))
    }
  }

  private func compareStarts(_ folders: [String]) async throws {
    // Signed in, so that the outbox is active. Its only origin cannot be reached.
    for folder in folders {
      let daemon = try RunningDaemon(folder: folder, configuration: FilledOutbox.configuration)
      try daemon.call(
        ImportGrant.name, ["account": "work", "accessToken": "token", "refreshToken": "token", "expiresIn": 86_400])
      daemon.stop()
    }
    var ready = [Sample(), Sample()]
    var answered = [Sample(), Sample()]
    for round in 0..<starts {
      for side in round.isMultiple(of: 2) ? [0, 1] : [1, 0] {
        let daemon = try RunningDaemon(folder: folders[side], configuration: FilledOutbox.configuration)
        ready[side].add(daemon.untilReady)
        answered[side].add(daemon.untilAnswered)
        let stats = try daemon.call(GetOutboxStats.name)
        let left = ["pending", "inFlight", "waiting"].reduce(0) { $0 + (stats[$1]?.int ?? 0) }
        let expected = [small, large][side]
        guard left >= expected * 9 / 10 else { throw BenchFailure(description: "Items are missing: \(stats)") }
        daemon.stop()
      }
    }
    print(Table.line("median of \(starts) starts of hearthd", "\(small)", "\(large)", "ratio"))
    for (name, samples) in [("until READY", ready), ("until the first call is answered", answered)] {
      let (few, many) = (samples[0].median, samples[1].median)
      print(
        Table.line(name, Table.milliseconds(few), Table.milliseconds(many), Table.ratio(many, to: few)))
    }
  }
}
