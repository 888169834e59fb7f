import Glibc
import HearthCore
import Testing

@testable import HearthLinux

@Suite("The message catalog")
struct CatalogTests {
  /// The entries of `systemd/hearth.catalog`: the text under each MESSAGE_ID.
  private func catalog() throws -> [(messageID: String, text: String)] {
    let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let file = try #require(fopen("/\(root)/systemd/hearth.catalog", "r"))
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
      .reduce(into: []) { entries, line in
        if line.hasPrefix("-- ") {
          entries.append((String(line.dropFirst(3)), ""))
        } else if !entries.isEmpty {
          entries[entries.count - 1].text += line + "\n"
        }
      }
  }

  @Test("explains every event, each under an identifier of its own, and no other")
  func entries() throws {
    let entries = try catalog()
    #expect(entries.map(\.messageID).sorted() == EventName.allCases.compactMap(\.messageID).sorted())
    #expect(Set(entries.map(\.messageID)).count == entries.count)
  }

  @Test("identifiers are 128 bits in lower-case hexadecimal", arguments: EventName.allCases.compactMap(\.messageID))
  func identifiers(_ messageID: String) {
    #expect(messageID.utf8.count == 32)
    #expect(messageID.allSatisfy { "0123456789abcdef".contains($0) })
  }

  @Test("each entry has a subject, a source and a text")
  func parts() throws {
    for entry in try catalog() {
      let parts = entry.text.split(separator: "\n\n", maxSplits: 1)
      try #require(parts.count == 2, "\(entry.messageID)")
      #expect(parts[0].hasPrefix("Subject: "))
      #expect(parts[0].contains("\nDefined-By: Hearth"))
      #expect(parts[1].contains("."))
    }
  }
}
