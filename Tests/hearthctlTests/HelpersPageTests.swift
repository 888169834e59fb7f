import TestSupport
import Testing

@testable import hearthctl

@Suite("The page for programs that people use") struct HelpersPageTests {
  @Test("What it and the README tell programs to run is understood", arguments: ["etc/docs/helpers.md", "README.md"])
  func lines(page: String) throws {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    // In a line of configuration a call ends with the quotation; in the shell where the next program begins.
    let calls = Files.text("/\(root)/\(page)").matches(of: /hearthctl ((?:token work|credential) [^`'"|\\\n]+)/)
    #expect(calls.count >= 6)
    for call in calls {
      var words = call.1.split(separator: " ").map(String.init)
      // Git itself adds what it asks for, and the script of docker what it was asked.
      if words.starts(with: ["credential", "git"]) || words.starts(with: ["credential", "docker"]) {
        words.append("get")
      }
      #expect(throws: Never.self, "\(call.1)") { try Verbs.parse(words[...]) }
    }
  }
}
