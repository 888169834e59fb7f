import Testing

@testable import hearthctl

@Suite("Text on a narrow terminal") struct WrappedTextTests {
  @Test("sentences wrap between words, and a quoted command is never broken")
  func commands() {
    let text = "Locked (\"hearthctl unlock work\" ends that). Then see \"hearthctl outbox list work --state dead\"."
    #expect(
      text.fitted(to: 30) == """
        Locked
        ("hearthctl unlock work" ends
        that). Then see
        "hearthctl outbox list work --state dead".
        """)
    #expect("Run \"systemctl --user start hearthd\".".fitted(to: 30) == "Run\n\"systemctl --user start hearthd\".")
    #expect("See 'hearthctl login --help' for more.".fitted(to: 24) == "See\n'hearthctl login --help'\nfor more.")
    #expect("The page \"You have to sign in\"".fitted(to: 20) == "The page \"You have\nto sign in\"")
  }

  @Test("a continued line keeps its indentation; lines with columns and single long words stay unchanged")
  func lines() {
    let text =
      "Open this address in a browser:\n\n  https://id.example.com/authorize\n\n  one two three\nID  one two three"
    #expect(
      text.fitted(to: 12) == """
        Open this
        address in a
        browser:

          https://id.example.com/authorize

          one two
          three
        ID  one two three
        """)
  }

  @Test("a text that fits, or has no limit, is not changed")
  func roomy() {
    for columns in [21, Int.max] { #expect("a sentence of 21 char".fitted(to: columns) == "a sentence of 21 char") }
    #expect("Client ID, as registered: ".fitted(to: 24) == "Client ID, as\nregistered: ")
  }
}
