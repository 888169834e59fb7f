import Glibc

/// A file in a suite's folder `Golden`, with recorded output to compare with.
///
/// With `HEARTH_RECORD_GOLDEN=1` the file is written into the source tree. Otherwise it is compared line by line.
package struct GoldenFile {
  private let name: String
  private let path: String
  private static let isRecording = getenv("HEARTH_RECORD_GOLDEN").map { String(cString: $0) } == "1"

  /// `file` is a source file of the target, in a subfolder or not.
  package init(_ name: String, besides file: String = #filePath) {
    self.name = name
    path = "\(Self.folder(besides: file))/\(name)"
  }

  /// The folder `Golden` of the target that this source file belongs to.
  package static func folder(besides file: String = #filePath) -> String {
    let parts = file.split(separator: "/")
    let end = parts.lastIndex(of: "Tests").map { $0 + 2 } ?? parts.count - 1
    return parts.prefix(end).reduce("") { "\($0)/\($1)" } + "/Golden"
  }

  /// The differences from the recorded text, one per line.
  package func differences(from text: String) throws -> [String] {
    if Self.isRecording {
      try Files.makeFolder(String(path[..<path.lastIndex(of: "/")!]))
      try Files.write(text, to: path)
      return []
    }
    let expected = Files.text(path).split(separator: "\n", omittingEmptySubsequences: false)
    let actual = text.split(separator: "\n", omittingEmptySubsequences: false)
    return actual.difference(from: expected).map { change in
      switch change {
      case .remove(let place, let line, _): "Golden/\(name):\(place + 1): expected: \(line)"
      case .insert(let place, let line, _): "Golden/\(name):\(place + 1): actual:   \(line)"
      }
    }
  }
}
