import HearthCore
import TestSupport
import Testing

@Suite("A name")
struct NameTests {
  @Test(
    "is another one where it only looks the same: canonical equivalence counts for nothing",
    arguments: [("caf\u{E9}", "cafe\u{301}"), ("K", "\u{212A}"), ("\u{C5}", "\u{212B}")])
  func lookalikes(one: String, other: String) {
    #expect(one == other)
    #expect(Name(one) != Name(other))
    #expect(Set([Name(one), Name(other), Name(one)]).count == 2)
    #expect((Name(one) < Name(other)) == one.utf8.lexicographicallyPrecedes(other.utf8))
    let subjects = [one, other].map { Subject(issuer: "https://id.example.com", id: $0) }
    #expect(subjects[0] != subjects[1])
    #expect(!subjects[0].isSameUser(as: subjects[1]))
    #expect(Set(subjects).count == 2)
    #expect(Subject(issuer: "https://\(one)", id: "1") != Subject(issuer: "https://\(other)", id: "1"))
    #expect(!Subject(issuer: "https://\(one)", id: "1").isSameUser(as: Subject(issuer: "https://\(other)", id: "1")))
  }
}

@Suite("An account's name")
struct AccountNameTests {
  @Test(
    "is letters, digits, underscores and hyphens, beginning with a letter or digit, at most 64 of them",
    arguments: ["a", "Work", "0", "work-2_b", String(repeating: "x", count: 64)])
  func takes(text: String) throws {
    #expect(try #require(AccountName(text)).description == text)
  }

  @Test(
    "is nothing that could mean something else in a path or on a command line",
    arguments: [
      "", "-v", "_x", ".", "..", "a.b", "a/b", "a b", "a\n", "a\u{0}", "é", "ａ", "a\u{301}", "a*",
      String(repeating: "x", count: 65),
    ])
  func refuses(text: String) {
    #expect(AccountName(text) == nil)
  }

  @Test("sorts as text does")
  func sorts() throws {
    let names = try ["b", "a-2", "a"].map { try #require(AccountName($0)) }
    #expect(names.sorted().map(\.description) == ["a", "a-2", "b"])
  }
}

@Suite("A fingerprint")
struct FingerprintTests {
  @Test("is eight hexadecimal digits in lower case, and nothing else", arguments: ["9f86d081", "00000000"])
  func takes(text: String) {
    #expect(Fingerprint(text)?.description == text)
  }

  @Test(
    "is not read from anything else",
    arguments: ["", "9f86d08", "9f86d0811", "9F86D081", "9f86d08g", "9f86d08é", "９f86d08"])
  func refuses(text: String) {
    #expect(Fingerprint(text) == nil)
  }
}

@Suite("A secret")
struct SecretTests {
  private let word = "correct-horse"

  private func dumped(_ value: some Any) -> String {
    var text = ""
    dump(value, to: &text)
    return text
  }

  @Test("never prints itself, alone or within what holds it")
  func neverPrints() {
    let secret = Secret(word)
    let credential = Credential(
      grant: Grant(
        accessToken: Token(secret: secret, fingerprint: Token.sample(1).fingerprint),
        refreshToken: Token(secret: secret, fingerprint: Token.sample(2).fingerprint), issuedAt: .sample,
        expiresAt: nil), subject: .sample, origin: .sample)
    let script = SessionScript.holding(credential)
    for text in [
      "\(secret)", String(describing: secret), String(reflecting: secret), dumped(secret), "\([secret])",
      "\(Optional(secret) as Any)", "\(["key": secret])", "\(credential)", String(reflecting: credential),
      dumped(credential), "\(script.machine)", dumped(script.machine), "\(script.snapshot)",
      "\(SessionAction.refresh(credential, generation: 1))", dumped(SessionResponse.token(credential)),
      "\(Mirror(reflecting: secret).children.map(\.value))", "\(Result<Secret, AccessFailure>.success(secret))",
    ] {
      #expect(!text.contains(word), "printed: \(text)")
    }
  }

  @Test("is what it was made of, when asked outright")
  func reveals() {
    #expect(Secret(word).reveal() == word)
    #expect(Secret("").isEmpty)
    #expect(!Secret(word).isEmpty)
    #expect(Secret(word) == Secret(word))
    #expect(Secret(word) != Secret("other"))
  }
}

@Suite("A seeded generator")
struct SeededGeneratorTests {
  @Test("gives SplitMix64's numbers")
  func givesReferenceNumbers() {
    var random = SeededGenerator(seed: 1_234_567)
    #expect(
      (0..<5).map { _ in random.next() } == [
        6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423, 4_593_380_528_125_082_431,
        16_408_922_859_458_223_821,
      ])
  }

  @Test("gives the same numbers for the same seed, and others for another")
  func repeats() {
    func numbers(_ seed: UInt64) -> [UInt64] {
      var random = SeededGenerator(seed: seed)
      return (0..<8).map { _ in random.next() }
    }
    #expect(numbers(7) == numbers(7))
    #expect(numbers(7) != numbers(8))
  }
}
