import HearthControl
import HearthCore
import TestSupport
import Testing

@testable import HearthRuntime

@Suite("The page for programs")
struct ProgramsPageTests {
  private let page: String

  init() {
    let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    page = Files.text("/\(root)/etc/docs/programs.md")
  }

  @Test("It lists each method", arguments: ControlService.served.values.map { $0.name }.sorted())
  func listsMethod(_ name: String) {
    #expect(page.contains("`\(name)`"))
  }

  @Test("It lists each notification", arguments: EventName.allCases.filter { $0.params != nil })
  func listsNotification(_ name: EventName) {
    #expect(page.contains("`\(name.rawValue)`"))
  }

  @Test("It lists each error with its code, and whether it may be tried again", arguments: RPCError.Kind.allCases)
  func listsError(_ kind: RPCError.Kind) {
    #expect(page.contains("| \(kind.code) | `\(kind.rawValue)` | \(kind.isRetryable ? "yes" : "no") |"))
  }
}
