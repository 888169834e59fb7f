/// A rule of the house that can be seen in the text of a file.
struct HouseRule: Sendable {
  let name: String
  let appliesTo: @Sendable (SourceFile) -> Bool
  let breaches: @Sendable (SourceFile) -> [Int]

  /// Forbids lines of code that match.
  private static func noLine(
    _ name: String, in appliesTo: @escaping @Sendable (SourceFile) -> Bool = { _ in true },
    matching pattern: @escaping @Sendable (Substring) -> Bool
  ) -> HouseRule {
    HouseRule(name: name, appliesTo: appliesTo) { file in
      file.code.filter { pattern($0.text) }.map(\.number)
    }
  }

  private static func isSource(_ file: SourceFile) -> Bool { file.path.hasPrefix("Sources/") }

  static let all: [HouseRule] = [
    noLine("every task has a parent: no bare Task", in: isSource) {
      $0.contains(/\bTask(?:\s*<[^{]*>)?(?:\s*\([^)]*\))?\s*\{/) || $0.contains(/\bTask\.(?:detached|immediate)\b/)
    },
    noLine("no try!") { $0.contains(/\btry!/) },
    noLine("no forced cast") { $0.contains(/\bas!/) },
    noLine("no fatalError", in: isSource) { $0.contains(/\bfatalError\(/) },
    noLine("only the clock sleeps", in: { !["EndToEndTests", "hearth-sandbox", "hearthctl"].contains($0.target) }) {
      $0.contains(/\bTask\.sleep\b|\bThread\.sleep\b|\b(?:u|nano)?sleep\(\s*[\d&]/)
    },
    noLine("Foundation only where FoundationEssentials will not do", in: isSource) {
      $0.contains(/\bimport Foundation\s*$/)
    },
    HouseRule(name: "nothing is put off: no TODO", appliesTo: { _ in true }) { file in
      let words = ["TO" + "DO", "FIX" + "ME"]
      return file.lines.indices.filter { index in words.contains { file.lines[index].contains($0) } }.map { $0 + 1 }
    },
    HouseRule(name: "no Manager, Helper or Utils", appliesTo: isSource) { file in
      file.code.filter {
        $0.text.contains(/\b(?:struct|class|enum|actor|protocol)\s+\w*(?:Manager|Helper|Helpers|Utils|Utilities)\b/)
      }.map(\.number)
    },
    HouseRule(name: "a file has at most 400 lines", appliesTo: { _ in true }) { file in
      file.lines.count > 401 ? [file.lines.count] : []
    },
  ]

  func breaches(in files: [SourceFile]) -> [String] {
    files.filter(appliesTo).flatMap { file in breaches(file).map { "\(file.path):\($0): \(name)" } }
  }
}
