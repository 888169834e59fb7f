import HearthCore
import Testing

@Suite("A reference in an answer") struct HTTPURLReferenceTests {
  /// RFC 3986, sections 5.4.1 and 5.4.2, but for `;` parameters alone and schemes that are not HTTP.
  @Test(
    "means what RFC 3986 says",
    arguments: [
      ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"), ("g?y", "/b/c/g?y"),
      ("#s", "/b/c/d;p?q"), ("g#s", "/b/c/g"), ("g?y#s", "/b/c/g?y"), (";x", "/b/c/;x"), ("", "/b/c/d;p?q"),
      (".", "/b/c/"), ("./", "/b/c/"), ("..", "/b/"), ("../", "/b/"), ("../g", "/b/g"), ("../..", "/"),
      ("../../g", "/g"), ("../../../g", "/g"), ("/./g", "/g"), ("/../g", "/g"), ("g.", "/b/c/g."), (".g", "/b/c/.g"),
      ("./../g", "/b/g"), ("g/./h", "/b/c/g/h"), ("g/../h", "/b/c/h"), ("g?y/../x", "/b/c/g?y/../x"),
      ("g:h", nil), ("//other.example/g", nil),
    ] as [(String, String?)])
  func examples(reference: String, target: String?) throws {
    let base = try HTTPURL("https://a.example/b/c/d;p?q")
    let url = try? base.resolving(reference)
    #expect(
      url?.origin == base.origin ? url?.target == target : target == nil, "\(reference): \(url?.description ?? "")")
  }

  @Test("with an authority or a scheme leads where it says")
  func absolute() throws {
    let base = try HTTPURL("https://a.example/b")
    #expect(try base.resolving("//other.example/g").description == "https://other.example/g")
    #expect(try base.resolving("https://other.example:444").description == "https://other.example:444/")
    #expect(try base.resolving("g?filter[status]=é").description == "https://a.example/g?filter%5Bstatus%5D=%C3%A9")
    #expect(throws: HTTPURL.ParseError.badCharacter("\\")) { try base.resolving("\\\\other.example/g") }
    #expect(throws: HTTPURL.ParseError.plainHTTP) { try base.resolving("http://a.example/b") }
    #expect(throws: HTTPURL.ParseError.userInformation) { try base.resolving("https://a.example@other.example/") }
    #expect(throws: HTTPURL.ParseError.notAbsolute) { try base.resolving("javascript:alert(1)") }
    #expect(try HTTPURL("https://a.example").resolving("g").description == "https://a.example/g")
  }
}
