import TestSupport
import Testing

@testable import hearthctl

@Suite("hearthctl docs") struct DocsTests {
  private static let etc = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/etc"

  @Test("has each page of etc/docs, the providers and the configuration, word for word")
  func pages() {
    let docs = Files.names(in: "\(Self.etc)/docs").map { "docs/\($0)" }
    let files = docs + ["hearth/providers.md", "hearth/config.toml"]
    #expect(Page.all.count == files.count)
    for file in files {
      let name = file.split(separator: "/")[1].split(separator: ".")[0]
      #expect(Page.all.first { $0.name == name }?.text == Files.text("\(Self.etc)/\(file)"), "\(file)")
    }
  }

  @Test("writes a page for the pager into a pipe, whose buffer has room for each")
  func fits() {
    #expect(Page.all.allSatisfy { $0.text.utf8.count <= 64 << 10 })
  }

  @Test("lists a page by its heading")
  func titles() {
    #expect(Page.all.map(\.title).contains("Let Hearth keep your token"))
    #expect(Page.all.allSatisfy { !$0.title.isEmpty && !$0.title.hasPrefix("#") })
  }
}
