import FoundationEssentials
import Glibc

/// A Swift file of the package, as text.
struct SourceFile {
  /// The path from the package's root, such as `Sources/HearthCore/Values/Token.swift`.
  let path: String
  let lines: [Substring]

  init(path: String, text: String) {
    self.path = path
    lines = text.split(separator: "\n", omittingEmptySubsequences: false)
  }

  /// The folder below `Sources` or `Tests`.
  var target: String { String(path.split(separator: "/").dropFirst().first ?? "") }

  /// The lines that are not comments, with their numbers.
  var code: [(number: Int, text: Substring)] {
    lines.enumerated().compactMap { index, line in
      line.drop { $0 == " " }.hasPrefix("//") ? nil : (index + 1, line)
    }
  }

  var imports: [(number: Int, module: String)] {
    code.filter { $0.text.mentions("import") }.compactMap { number, line in
      line.prefixMatch(of: SourceFile.importLine).map { (number, String($0.output.module)) }
    }
  }

  /// Matches an import, with or without attributes, an access level and the kind of a single declaration.
  private nonisolated(unsafe) static let importLine =
    /\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+(?:(?:struct|class|enum|protocol|func|var|let|typealias|actor)\s+)?(?<module>\w+)/
}

extension Substring {
  /// Whether the line contains `word`, byte for byte. A regular expression would take a hundred times as long for a
  /// line that does not match, and there are a hundred thousand lines.
  func mentions(_ word: String) -> Bool { withCString { strstr($0, word) != nil } }
}

/// The package on disk.
enum House {
  static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

  /// Every Swift file below `folder` (`Sources` or `Tests`).
  static func files(in folder: String) throws -> [SourceFile] {
    let paths = try FileManager.default.subpathsOfDirectory(atPath: "\(root)/\(folder)")
    return try paths.filter { $0.hasSuffix(".swift") }.sorted().map { path in
      SourceFile(path: "\(folder)/\(path)", text: try text("\(folder)/\(path)"))
    }
  }

  static func text(_ path: String) throws -> String {
    try String(contentsOf: URL(filePath: "\(root)/\(path)"), encoding: .utf8)
  }
}
