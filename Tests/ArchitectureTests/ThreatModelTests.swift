import Testing

@Suite("SECURITY.md")
struct ThreatModelTests {
  @Test("each row of the threat model names tests, and all of them exist")
  func tests() throws {
    let model = ThreatModel(try House.text("SECURITY.md"))
    #expect(model.rows.count > 25)
    let tests = ThreatModel.tests(in: try House.files(in: "Tests"))
    for row in model.rows {
      #expect(!row.tests.isEmpty, "\(row.text)")
      for test in row.tests { #expect(tests.contains(test), "There is no test \(test): \(row.text)") }
    }
  }

  @Test("a missing test is detected")
  func bites() {
    let file = SourceFile(path: "Tests/A/B.swift", text: "@Suite struct ThreatTests {\n  func bites() {}\n}")
    #expect(ThreatModel.tests(in: [file]) == ["ThreatTests.bites"])
    let model = ThreatModel(
      "## The threat model\n| a | b | c | d |\n| --- | --- | --- | --- |\n| | x | y | `A.b`, `C.d` |\n")
    #expect(model.rows.map(\.tests) == [["A.b", "C.d"]])
  }
}

/// The table of possible attackers.
private struct ThreatModel {
  struct Row {
    let text: Substring
    /// The tests of the row, as `Suite.function`.
    let tests: [String]
  }

  let rows: [Row]

  init(_ document: String) {
    let lines = document.split(separator: "\n")
    let section = lines.drop { $0 != "## The threat model" }.dropFirst().prefix { !$0.hasPrefix("## ") }
    // Leaves out the table's head and the line below it.
    rows = section.filter { $0.hasPrefix("|") }.dropFirst(2).map { line in
      let cells = line.split(separator: "|", omittingEmptySubsequences: false)
      let names = cells.dropLast().last?.matches(of: /`(\w+\.\w+)`/).map { String($0.output.1) } ?? []
      return Row(text: line, tests: names)
    }
  }

  /// Every test in files that declare or extend a suite, as `Suite.function`.
  static func tests(in files: [SourceFile]) -> Set<String> {
    var tests: Set<String> = []
    for file in files {
      let code = file.code.map(\.text)
      let suites = ["struct ", "extension "].flatMap { word in
        code.filter { $0.mentions(word) }.compactMap { Self.name(after: word, in: $0) }
      }
      let functions = code.filter { $0.mentions("func ") }.compactMap { Self.name(after: "func ", in: $0) }
      for suite in suites { for function in functions { tests.insert("\(suite).\(function)") } }
    }
    return tests
  }

  private static func name(after word: String, in line: Substring) -> Substring? {
    guard let range = line.firstRange(of: word) else { return nil }
    let name = line[range.upperBound...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    return name.isEmpty ? nil : name
  }
}
