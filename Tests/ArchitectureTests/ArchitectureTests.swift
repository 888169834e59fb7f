import Testing

@Suite("The house")
struct ArchitectureTests {
  @Test("no file imports a module that its target may not import")
  func imports() throws {
    let files = try House.files(in: "Sources")
    #expect(files.count > 30)
    #expect(Walls.breaches(in: files) == [])
  }

  @Test("the manifest gives no target a dependency that it may not import")
  func manifest() throws {
    let manifest = Manifest(try House.text("Package.swift"))
    #expect(Walls.breaches(in: manifest) == [])
    let targets = Set(try House.files(in: "Sources").map(\.target))
    #expect(Set(manifest.dependencies.keys) == targets)
    #expect(manifest.dependencies["hearthctl"]?.contains("HearthControl") == true)
  }

  /// All files except these tests, read once for all rules.
  private static let ruled = Result {
    try (House.files(in: "Sources") + House.files(in: "Tests")).filter { $0.target != "ArchitectureTests" }
  }

  @Test("no file breaks a rule that is visible in its text", arguments: HouseRule.all.indices)
  func houseRules(_ index: Int) throws {
    let files = try Self.ruled.get()
    #expect(HouseRule.all[index].breaches(in: files) == [])
  }
}

@Suite("The rules catch violations")
struct ArchitectureBiteTests {
  @Test(
    "every way to write an import is seen",
    arguments: [
      "import NIOCore", "package import NIOCore", "@preconcurrency import NIOCore",
      "  import struct NIOCore.ByteBuffer",
      "@_spi(X) @preconcurrency internal import NIOCore",
    ])
  func importForms(_ line: String) {
    let file = SourceFile(
      path: "Sources/HearthCore/Session/A.swift", text: "// import Glibc\n\(line)\nlet imported = 1")
    #expect(Walls.breaches(in: [file]) == ["Sources/HearthCore/Session/A.swift:2: HearthCore may not import NIOCore"])
  }

  @Test(
    "a broken wall is named",
    arguments: [
      ("HearthCore", "Synchronization"), ("HearthCore", "FoundationEssentials"), ("HearthControl", "HearthRuntime"),
      ("HearthControl", "Foundation"), ("HearthRuntime", "HearthLinux"), ("HearthRuntime", "GRDB"),
      ("HearthLinux", "HearthRuntime"), ("HearthLinux", "HearthStorage"), ("HearthOAuth", "HearthLinux"),
      ("HearthStorage", "HearthOAuth"), ("hearthctl", "GRDB"), ("hearthctl", "AsyncHTTPClient"),
      ("hearthctl", "HearthRuntime"), ("hearthctl", "Foundation"), ("hearthd", "Hummingbird"),
      ("hearth-sandbox", "HearthControl"), ("NewTarget", "Glibc"),
    ])
  func walls(_ target: String, _ module: String) {
    let file = SourceFile(path: "Sources/\(target)/A.swift", text: "import \(module)")
    #expect(Walls.breaches(in: [file]).count == 1)
    let manifest = Manifest(#"library("\#(target)", ["\#(module)"]),"#)
    #expect(Walls.breaches(in: manifest).count == 1)
  }

  @Test("products in the manifest count as their modules")
  func manifestProducts() {
    let manifest = Manifest(
      """
      static let nio = product(name: "NIOCore", package: "swift-nio")
      library("HearthCore"),
      program(
        "hearthctl",
        [
          "HearthControl", .nio, .unheardOf,
        ]),
      """)
    #expect(manifest.dependencies == ["HearthCore": [], "hearthctl": ["HearthControl", "NIOCore", ".unheardOf"]])
    #expect(Walls.breaches(in: manifest).count == 2)
  }

  @Test(
    "each rule finds what it forbids",
    arguments: [
      ("no bare Task", "    Task { await run() }"), ("no bare Task", "let task = Task<Void, Never>(priority: .high) {"),
      ("no bare Task", "Task.detached {"), ("no try!", "let x = try! f()"), ("no forced cast", "let x = y as! Int"),
      ("no fatalError", "default: fatalError(\"\")"), ("only the clock", "try await Task.sleep(for: .seconds(1))"),
      ("only the clock", "usleep(1000)"), ("Foundation only", "import Foundation"),
      ("nothing is put off", "// TO" + "DO: later"), ("no Manager", "final class SessionManager {"),
      ("at most 400 lines", String(repeating: "\n", count: 401)),
    ])
  func bites(_ name: String, _ sample: String) throws {
    let rule = try #require(HouseRule.all.first { $0.name.contains(name) })
    let file = SourceFile(path: "Sources/HearthRuntime/A.swift", text: sample)
    #expect(rule.breaches(in: [file]).count == 1)
  }

  @Test(
    "a file with a single type may have 600 lines", arguments: [(400, "", 0), (600, "", 1), (400, "extension A {}", 1)])
  func longFile(lines: Int, other: String, breaches: Int) throws {
    let rule = try #require(HouseRule.all.first { $0.name.contains("400 lines") })
    let text = "package struct A {" + String(repeating: "\n", count: lines) + "}\n" + other
    #expect(rule.breaches(in: [SourceFile(path: "Sources/HearthCore/A.swift", text: text)]).count == breaches)
  }

  private static func shortLimits(_ target: String, _ sample: String) throws -> Int {
    let rule = try #require(HouseRule.all.first { $0.name.contains("no limit below 10 s") })
    return rule.breaches(in: [SourceFile(path: "Tests/\(target)/A.swift", text: sample)]).count
  }

  @Test(
    "a short limit is found in a test of real programs",
    arguments: [
      ("EndToEndTests", "try process.wait(within: .seconds(9))"), ("EndToEndTests", "#expect(took < .seconds(5.5))"),
      ("EndToEndTests", "#expect(.now - start <= .milliseconds(500), \"soon\")"),
      ("EndToEndTests", "func wait(within limit: Duration = .seconds(5)) {"),
      ("EndToEndTests", "let hearth = try await HearthClient.connect(socket: path, timeout: .milliseconds(300))"),
      ("hearthctlTests", "try ChildProcess(\"hearthctl\", [], outputFolder: folder).wait(within: .seconds(1))"),
    ])
  func shortLimitsBite(_ target: String, _ sample: String) throws {
    #expect(try Self.shortLimits(target, sample) == 1)
  }

  @Test(
    "no other time is taken for one",
    arguments: [
      ("EndToEndTests", "try process.wait(within: .seconds(10))"), ("EndToEndTests", "try wait(within: .generous)"),
      ("EndToEndTests", "#expect(took >= .seconds(2))"), ("EndToEndTests", "let due = start + .seconds(5)"),
      ("HearthCoreTests", "try await answer(within: .seconds(1))"),
    ])
  func longLimits(_ target: String, _ sample: String) throws {
    #expect(try Self.shortLimits(target, sample) == 0)
  }

  @Test(
    "no rule finds fault with good code",
    arguments: [
      "group.addTask { await run() }", "await clock.sleep(until: deadline)", "// no try! and no Task { here",
      "import FoundationEssentials", "struct TaskName {", "let secondsAsleep = 3",
      "withTaskGroup(of: Void.self) { group in",
    ])
  func spares(_ sample: String) {
    let file = SourceFile(path: "Sources/HearthRuntime/A.swift", text: sample)
    #expect(HouseRule.all.flatMap { $0.breaches(in: [file]) } == [])
  }
}
