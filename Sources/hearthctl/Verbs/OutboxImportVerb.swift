import ArgumentParser
import HearthControl
import HearthCore

struct OutboxImportVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Queue the items that \"outbox export\" wrote.",
    discussion: """
      Each item keeps its user and is sent only for that user. Existing items are not queued again, so a file can be \
      imported twice. Rejected lines are reported, and the others are imported. An item that was exported longer ago \
      than idempotency_horizon may have been sent since then, so Hearth holds it for review unless its method is GET, \
      PUT or DELETE. If you know that nothing was sent, skip the review with --unsent. For example:

        hearthctl outbox import work.jsonl --dry-run
        hearthctl outbox import work.jsonl --unsent
      """)

  @Argument(help: "File to import; - for standard input.", completion: .file())
  var file: String

  @Flag(help: "Dry run: show what would be queued.")
  var dryRun = false

  @Flag(help: "Assert that nothing in the file was sent after the export.")
  var unsent = false

  @OptionGroup var daemonOptions: DaemonOptions

  func run() throws {
    var lines = try InputLines(file)
    defer { lines.close() }
    // Do not record Ctrl-C while reading standard input. The read may block forever, so Ctrl-C must end the program.
    if file != "-" { Interruption.watch() }
    var batches = ImportBatches(try daemonOptions.connect(), isDryRun: dryRun, isUnsent: unsent)
    do {
      defer { ProgressLine.clear() }
      var shown: Int?
      while let line = try lines.next() {
        try batches.add(line, number: lines.number, daemonOptions)
        try requireUninterrupted(batches.counts)
        if shown != batches.counts.done { ProgressLine.show("Importing \(batches.counts.done)") }
        shown = batches.counts.done
      }
      // If the file is a pipe, Ctrl-C also ends the program that writes to the pipe, so the input may be incomplete.
      try requireUninterrupted(batches.counts)
      try batches.send(daemonOptions)
    } catch {
      ProgressLine.clear()
      Output.note(
        "Stopped at line \(batches.firstUnsent ?? lines.number). Import the file again to queue the rest. Nothing is "
          + "queued twice."
      )
      throw error
    }
    let counts = batches.counts
    daemonOptions.output.show(counts.json) { counts.text(isDryRun: dryRun) }
    guard counts.refused == 0 else {
      throw CommandFailure(.failed, "\(counts.refused == 1 ? "1 line was" : "\(counts.refused) lines were") rejected.")
    }
  }

  private func requireUninterrupted(_ counts: ImportCounts) throws {
    guard Interruption.hasCome else { return }
    throw CommandFailure(.interrupted, "Interrupted. \(counts.text(isDryRun: dryRun).replacing("\n", with: " "))")
  }
}

struct ImportCounts: Hashable {
  var imported = 0
  var held = 0
  /// Items that already existed.
  var known = 0
  /// Items that were already finished when they were exported.
  var ended = 0
  var refused = 0

  var done: Int { imported + known + ended + refused }

  var json: JSON {
    [
      "imported": JSON(imported), "held": JSON(held), "known": JSON(known), "ended": JSON(ended),
      "refused": JSON(refused),
    ]
  }

  func text(isDryRun: Bool) -> String {
    var lines = ["\(imported.items) \(isDryRun ? "would be imported" : "imported")."]
    if held > 0 {
      lines.append(
        "\(held.items) \(held == 1 ? "is" : "are") held. To see why, run \"hearthctl outbox list --state held\".")
    }
    if known > 0 { lines.append("\(known.items) already in the outbox.") }
    if ended > 0 { lines.append("\(ended.items) skipped (already finished).") }
    return lines.joined(separator: "\n")
  }
}
