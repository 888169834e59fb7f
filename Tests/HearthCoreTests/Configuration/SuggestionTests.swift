import HearthCore
import Testing

@Suite("A suggestion for a misspelled word") struct SuggestionTests {
  private let words = ["home", "work", "a"]

  @Test(
    "is the most similar word: at most one letter in three added, removed, changed or swapped with the next",
    arguments: [
      ("wrk", "work"), ("woork", "work"), ("wirk", "work"), ("wokr", "work"), ("work", "work"), ("hoe", "home"),
      ("b", "a"), ("ab", "a"),
    ])
  func near(word: String, meant: String) {
    #expect(words.suggestion(for: word) == " Did you mean \"\(meant)\"?")
  }

  @Test("is missing if more letters differ, or there is no other word", arguments: ["wxxk", "kowr", "homework", "zzz"])
  func far(word: String) {
    #expect(words.suggestion(for: word) == "")
    #expect([String]().suggestion(for: word) == "")
  }

  @Test("may differ in more letters if the word is longer, and is found quickly for a very long word")
  func long() {
    #expect(["production-east"].suggestion(for: "prodution-esat") == " Did you mean \"production-east\"?")
    #expect(["production-east"].suggestion(for: "pro-east") == "")
    #expect(["work"].suggestion(for: String(repeating: "w", count: 1_000_000)) == "")
  }
}
