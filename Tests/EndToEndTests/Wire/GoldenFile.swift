import Glibc
import TestSupport
import Testing

/// One file of the folder `Golden`: what was seen when it was recorded, against what is seen now.
///
/// With `HEARTH_RECORD_GOLDEN=1` it is written into the source tree, without it it is compared, line by line.
struct GoldenFile {
  let name: String

  static let folder = #filePath.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" } + "/Golden"
  private static let isRecording = getenv("HEARTH_RECORD_GOLDEN").map { String(cString: $0) } == "1"

  private var path: String { "\(Self.folder)/\(name)" }

  /// `log` is told where they differ: why, is often in it.
  func check(_ text: String, log: @autoclosure () -> String = "") throws {
    if Self.isRecording {
      try Files.makeFolder(Self.folder)
      try Files.write(text, to: path)
      return
    }
    let expected = Files.text(path).split(separator: "\n", omittingEmptySubsequences: false)
    let actual = text.split(separator: "\n", omittingEmptySubsequences: false)
    let changes = actual.difference(from: expected)
    for change in changes {
      switch change {
      case .remove(let place, let line, _): Issue.record("Golden/\(name):\(place + 1): expected: \(line)")
      case .insert(let place, let line, _): Issue.record("Golden/\(name):\(place + 1): actual:   \(line)")
      }
    }
    let log = changes.isEmpty ? "" : log()
    if !log.isEmpty { Issue.record("Golden/\(name): the daemon's log:\n\(log)") }
  }
}
