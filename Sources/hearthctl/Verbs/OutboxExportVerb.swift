import ArgumentParser
import Glibc
import HearthClient
import HearthControl
import HearthCore

struct OutboxExportVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write the undelivered items as JSON, one per line.",
    discussion: """
      The lines contain headers and bodies, but no token. "outbox import" reads them, here or on another machine. \
      Items that are delivered during the export may be included; to prevent that, pause the outbox first. For \
      example:

        hearthctl outbox export work --output work.jsonl
        hearthctl outbox export --state dead | jq .lastError
      """)

  @OptionGroup var daemonOptions: DaemonOptions
  @OptionGroup var choice: AccountChoice

  @Option(
    help: "Only items in this state.",
    completion: .list(OutboxItem.State.allCases.filter(\.keepsContent).map(\.rawValue)))
  var state: String?

  @Option(help: "Only items in this lane.")
  var lane: String?

  @Option(
    help: ArgumentHelp("File to write, readable only by you (default: standard output).", valueName: "file"),
    completion: .file())
  var output: String?

  func validate() throws {
    guard let state = state.flatMap(OutboxItem.State.init), !state.keepsContent else { return }
    throw ValidationError(
      "Items in the state \(state.rawValue) cannot be exported, because Hearth no longer has their content.")
  }

  func run() throws {
    var query = OutboxQuery(account: try choice.name, lane: lane.map { Name($0) }, limit: 1000)
    query.state = try state.map { try WireType.choice.value($0, as: "--state") }
    var daemon = try daemonOptions.connect()
    guard let output else {
      let counts = try export(query, from: &daemon) { daemonOptions.output.content($0) }
      return tell(counts)
    }
    Interruption.watch()
    let counts = try replacing(output) { write in try export(query, from: &daemon, write) }
    let report: JSON = ["exported": JSON(counts.exported), "damaged": JSON(counts.damaged)]
    daemonOptions.output.show(report) { "\(counts.exported.items) exported to \(output)." }
    tell(counts)
  }

  private typealias Counts = (exported: Int, damaged: Int)

  private func export(
    _ query: OutboxQuery, from daemon: inout ControlClient, _ write: ([UInt8]) throws -> Void
  ) throws -> Counts {
    var (query, counts) = (query, Counts(0, 0))
    let total = ProgressLine.isShown ? try count(query, &daemon) : nil
    let hasBlocks = Screen.isUTF8(variable)
    defer { ProgressLine.clear() }
    repeat {
      let reply = try daemon.call(ExportItems(query))
      let lines = reply.json["items"]?.array ?? []
      if !lines.isEmpty { try write(Array(lines.map { "\($0)\n" }.joined().utf8)) }
      counts = (counts.exported + lines.count, counts.damaged + reply.value.damaged)
      query.cursor = reply.value.cursor
      let progress = total.map { ProgressLine.bar(counts.exported, of: $0, hasBlocks: hasBlocks) }
      ProgressLine.show("Exporting " + (progress ?? "\(counts.exported)"))
      if Interruption.hasCome { throw CommandFailure(.interrupted, "Interrupted. Nothing was exported.") }
    } while query.cursor != nil
    return counts
  }

  /// Returns the number of items, or `nil` if it is unknown.
  private func count(_ query: OutboxQuery, _ daemon: inout ControlClient) throws -> Int? {
    guard query.state == nil, query.lane == nil else { return nil }
    let stats = try daemon.call(GetOutboxStats(query.account)).value
    return stats.pending + stats.inFlight + stats.waiting + stats.held + stats.dead
  }

  /// Replaces a file with the output of `body` once it is complete and on disk. Only its owner can read the new file. If
  /// `body` throws, the old file is left unchanged.
  private func replacing(_ path: String, _ body: (([UInt8]) throws -> Void) throws -> Counts) throws -> Counts {
    func require(_ isDone: Bool) throws {
      guard isDone else { throw CommandFailure(.failed, "\(path) cannot be written: \(reason()).") }
    }
    // mkstemp(3) chooses an unused name and sets the mode to 0600.
    var name = Array("\(path).XXXXXX".utf8CString)
    let descriptor = mkstemp(&name)
    try require(descriptor >= 0)
    defer { close(descriptor) }
    do {
      let counts = try body { bytes in try require(WholeFile.write(bytes, to: descriptor)) }
      try require(fsync(descriptor) == 0 && rename(name, path) == 0)
      return counts
    } catch {
      unlink(name)
      throw error
    }
  }

  private func tell(_ counts: Counts) {
    guard counts.damaged > 0 else { return }
    Output.note("\(counts.damaged.items) skipped (damaged content).")
  }
}

extension Int {
  /// The number with a noun, such as `1 item` or `2 items`.
  var items: String { self == 1 ? "1 item" : "\(self) items" }
}
