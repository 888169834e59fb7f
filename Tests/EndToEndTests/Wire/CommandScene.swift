import TestSupport
import Testing

/// A terminal in which `hearthctl` is run, and all that it says written down.
final class CommandScene {
  let wire: WireScene
  private var text = ""

  static func play(
    _ file: String, _ accounts: @escaping (Sandbox) -> String, _ script: @escaping (CommandScene) throws -> Void
  ) async throws {
    try await TestEnvironment.run { environment in
      let scene = CommandScene(try WireScene(on: environment, accounts))
      try script(scene)
      #expect(try GoldenFile(file + ".txt").differences(from: scene.text) == [])
    }
  }

  private init(_ wire: WireScene) {
    self.wire = wire
  }

  /// One command and what it wrote: `|` begins a line of standard output, `!` one of standard error.
  @discardableResult
  func run(_ line: String, input: String? = nil) throws -> String {
    let process = try wire.environment.spawn(
      "hearthctl", Self.words(line), environment: ["HEARTH_SOCKET": wire.daemon.socket], input: input)
    let end = try process.wait()
    write(line, process.output, process.errors, end)
    return process.output
  }

  func write(_ line: String, _ output: String, _ errors: String, _ end: ChildProcess.End?) {
    text += "$ hearthctl \(wire.mask.people(line))\n" + marked("| ", output) + marked("! ", errors)
    switch end {
    case .exited(let status): text += "exit \(status)\n\n"
    case .killed(let signal): text += "signal \(signal)\n\n"
    case nil: text += "goes on\n\n"
    }
  }

  private func marked(_ mark: String, _ said: String) -> String {
    if said.isEmpty { return "" }
    let lines = wire.mask.people(said).split(separator: "\n", omittingEmptySubsequences: false)
    let whole = lines.last == "" ? lines.dropLast() : lines[...]
    let end = lines.last == "" ? "" : "\(mark)(no end of line)\n"
    return whole.map { ("\(mark)\($0)" as String) + "\n" }.joined() + end
  }

  /// As a shell would: blanks part words, but not between single quotes.
  private static func words(_ line: String) -> [String] {
    var words: [String] = []
    for (place, part) in line.split(separator: "'", omittingEmptySubsequences: false).enumerated() {
      if place % 2 == 1 { words.append(String(part)) } else { words += part.split(separator: " ").map(String.init) }
    }
    return words
  }
}
