import ArgumentParser
import CPages
import Glibc
import HearthControl
import HearthCore

struct DocsVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "docs", abstract: "Show a page of the documentation, or list the pages.",
    discussion: """
      On a terminal, the page is shown in $PAGER (default: less).

      For example:

        hearthctl docs
        hearthctl docs troubleshooting
        hearthctl docs terminal | grep -i keycloak
      """)

  @OptionGroup var daemonOptions: DaemonOptions

  @Argument(help: "Page to show (default: list the pages).", completion: .list(Page.all.map(\.name)))
  var page: String?

  func run() throws {
    guard let page else {
      let pages = Page.all.map { ["page": .string($0.name), "title": .string($0.title)] as JSON }
      return daemonOptions.output.show(["pages": .array(pages)]) {
        Page.all.map { $0.name.padded(to: 18) + $0.title }.joined(separator: "\n")
      }
    }
    guard let found = Page.all.first(where: { $0.name == page }) else {
      let names = Page.all.map(\.name)
      throw ValidationError(
        "There is no page \"\(page)\".\(names.suggestion(for: page)) The pages are \(names.listed).")
    }
    guard Output.isTerminal, !daemonOptions.json else {
      return daemonOptions.output.show(["page": .string(page), "text": .string(found.text)]) {
        String(found.text.dropLast())
      }
    }
    try found.showInPager()
  }
}

/// A page that is built into the program.
struct Page {
  let name: String
  let text: String

  static let all: [Page] = {
    var pages: [Page] = []
    while let page = hearth_find_page(pages.count)?.pointee {
      let text = String(decoding: UnsafeBufferPointer(start: page.text, count: page.length), as: UTF8.self)
      pages.append(Page(name: String(cString: page.name), text: text))
    }
    return pages
  }()

  /// The first line, without the marker of a heading or a comment.
  var title: String { String(text.prefix { $0 != "\n" }.drop { $0 == "#" || $0 == " " }) }

  /// Replaces this process with the pager. The pager reads the page from a pipe, whose 64 KiB buffer (pipe(7)) is
  /// larger than any page. Returns only by throwing.
  fileprivate func showInPager() throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0, WholeFile.write(Array(text.utf8), to: ends[1]), dup2(ends[0], STDIN_FILENO) >= 0 else {
      throw CommandFailure(.failed, "The page cannot be shown: \(reason()).")
    }
    for end in ends { close(end) }
    setenv("LESS", "FRX", 0)
    let call: [String] = ["/bin/sh", "-c", "exec ${PAGER:-$(command -v less || echo cat)}"]
    var words = call.map { strdup($0) } + [nil]
    execv("/bin/sh", &words)
    throw CommandFailure(.failed, "The pager cannot be run: \(reason()).")
  }
}
