/// A rule that is visible in the text of a file.
struct HouseRule: Sendable {
  let name: String
  let appliesTo: @Sendable (SourceFile) -> Bool
  let breaches: @Sendable (SourceFile) -> [Int]

  /// Forbids lines of code that match. Only lines with `word` can match.
  private static func noLine(
    _ name: String, in appliesTo: @escaping @Sendable (SourceFile) -> Bool = { _ in true }, with word: String,
    matching pattern: @escaping @Sendable (Substring) -> Bool
  ) -> HouseRule {
    HouseRule(name: name, appliesTo: appliesTo) { file in
      file.code.filter { $0.text.mentions(word) && pattern($0.text) }.map(\.number)
    }
  }

  /// Forbids types whose names end with `word`, which says nothing.
  private static func noName(_ word: String) -> HouseRule {
    noLine("no \(word)", in: isSource, with: word) {
      $0.contains(/\b(?:struct|class|enum|actor|protocol)\s+\w*(?:Manager|Helper|Helpers|Utils|Utilities)\b/)
    }
  }

  private static func isSource(_ file: SourceFile) -> Bool { file.path.hasPrefix("Sources/") }

  /// Whether a file consists of one type, whose fields can then be private.
  private static func isSingleType(_ file: SourceFile) -> Bool {
    isSource(file) && file.code.count { $0.text.contains(/^(?:[a-z]+\s)*(?:struct|class|enum|actor|extension)\s/) } == 1
  }

  private static func startsPrograms(_ file: SourceFile) -> Bool {
    file.target == "EndToEndTests" || file.lines.contains { $0.mentions("ChildProcess(") }
  }

  static let all: [HouseRule] = [
    noLine("every task has a parent: no bare Task", in: isSource, with: "Task") {
      $0.contains(/\bTask(?:\s*<[^{]*>)?(?:\s*\([^)]*\))?\s*\{/) || $0.contains(/\bTask\.(?:detached|immediate)\b/)
    },
    noLine("no try!", with: "try!") { $0.contains(/\btry!/) },
    noLine("no forced cast", with: "as!") { $0.contains(/\bas!/) },
    noLine("no fatalError", in: isSource, with: "fatalError") { $0.contains(/\bfatalError\(/) },
    noLine(
      "only the clock sleeps", in: { !["EndToEndTests", "hearth-sandbox", "hearthctl"].contains($0.target) },
      with: "sleep"
    ) {
      $0.contains(/\bTask\.sleep\b|\bThread\.sleep\b|\b(?:u|nano)?sleep\(\s*[\d&]/)
    },
    noLine("Foundation only where FoundationEssentials will not do", in: isSource, with: "import Foundation") {
      $0.contains(/\bimport Foundation\s*$/)
    },
    noLine("no limit below 10 s where real programs run", in: startsPrograms, with: "seconds(") {
      $0.contains(/(?:(?:within|limit|timeout):|<=?|Duration =)\s*\.(?:\w+[io]seconds\(|seconds\(\d(?:\.\d+)?\))/)
    },
    HouseRule(name: "nothing is put off: no TODO", appliesTo: { _ in true }) { file in
      let words = ["TO" + "DO", "FIX" + "ME"]
      return file.lines.indices.filter { index in words.contains { file.lines[index].mentions($0) } }.map { $0 + 1 }
    },
    noName("Manager"), noName("Helper"), noName("Util"),
    HouseRule(name: "a file has at most 400 lines, or 600 with a single type", appliesTo: { _ in true }) { file in
      file.lines.count > (isSingleType(file) ? 601 : 401) ? [file.lines.count] : []
    },
  ]

  func breaches(in files: [SourceFile]) -> [String] {
    files.filter(appliesTo).flatMap { file in breaches(file).map { "\(file.path):\($0): \(name)" } }
  }
}
