import Testing

@testable import hearthctl

@Suite struct HelpTextTests {
  @Test("the line of the usage is broken between options, and no other line is changed")
  func usage() {
    let help = "OVERVIEW: A token.\n\nUSAGE: hearthctl token [--min-valid <seconds>] [<account>] -- [<word> ...]\n"
    #expect(
      HelpText.fitted(help, columns: 40) == """
        OVERVIEW: A token.

        USAGE: hearthctl token
               [--min-valid <seconds>]
               [<account>] -- [<word> ...]

        """)
    #expect(HelpText.fitted(help) == help)
  }
}
