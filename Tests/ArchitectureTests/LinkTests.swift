import FoundationEssentials
import Testing

@Suite("The links of the pages")
struct LinkTests {
  private static let pages: [String] = {
    let files = FileManager.default
    return ["", "etc/docs/", "etc/hearth/"].flatMap { folder in
      ((try? files.contentsOfDirectory(atPath: "\(House.root)/\(folder)")) ?? [])
        .filter { $0.hasSuffix(".md") }.map { folder + $0 }
    }
  }()

  @Test("lead to files and headings that exist", arguments: pages)
  func lead(page: String) throws {
    let folder = page.split(separator: "/").dropLast().joined(separator: "/")
    for link in try House.text(page).matches(of: /\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/) {
      let path = link.1.isEmpty ? page : folder.isEmpty ? String(link.1) : "\(folder)/\(link.1)"
      guard let text = try? House.text(path) else {
        Issue.record("\(link.0): there is no \(path)")
        continue
      }
      if let anchor = link.2 { #expect(Self.anchors(in: text).contains(String(anchor)), "\(link.0)") }
    }
  }

  @Test("lead from README.md to each page")
  func readme() throws {
    let text = try House.text("README.md")
    #expect(Self.pages.count > 8)
    for page in Self.pages where page != "README.md" { #expect(text.contains("](\(page))"), "\(page)") }
  }

  /// The names that GitHub gives to headings.
  private static func anchors(in text: String) -> [String] {
    text.matches(of: /(?m)^#+ (.+)$/).map { heading in
      heading.1.lowercased().filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.map { $0 == " " ? "-" : $0 }
        .map(String.init).joined()
    }
  }
}
