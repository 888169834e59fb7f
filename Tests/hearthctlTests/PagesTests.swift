import TestSupport
import Testing

@testable import hearthctl

@Suite("The pages for people") struct PagesTests {
  private func page(_ name: String) -> String {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    return Files.text("/\(root)/\(name)")
  }

  @Test("What they tell other programs to run is understood")
  func otherPrograms() throws {
    // In a line of configuration a call ends with the quotation; in the shell where the next program begins.
    let calls = page("etc/docs/helpers.md").matches(of: /hearthctl ((?:token work|credential) [^`'"|;\\\n]+)/)
    #expect(calls.count >= 6)
    for call in calls {
      var words = call.1.split(separator: " ").map(String.init)
      // Git itself adds what it asks for, and the script of docker what it was asked.
      if words.starts(with: ["credential", "git"]) || words.starts(with: ["credential", "docker"]) {
        words.append("get")
      }
      #expect(throws: Never.self, "\(call.1)") { try Hearthctl.verb(in: words[...]) }
    }
  }

  @Test(
    "Each command in them is understood",
    arguments: [
      "README.md", "etc/docs/terminal.md", "etc/docs/helpers.md", "etc/docs/keep-your-token.md",
      "etc/docs/troubleshooting.md",
    ])
  func commands(name: String) throws {
    let lines = page(name).replacing(/\\\n */, with: "").matches(of: /(?m)^\$ hearthctl (.+)$/)
    #expect(!lines.isEmpty)
    for line in lines {
      let words = line.1.prefix { $0 != "|" && $0 != ">" }.matches(of: /'([^']*)'|(\S+)/).map {
        String($0.1 ?? $0.2 ?? "")
      }
      #expect(throws: Never.self, "\(line.1)") { try Hearthctl.verb(in: words[...]) }
    }
  }
}
