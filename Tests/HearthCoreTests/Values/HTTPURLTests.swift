import HearthCore
import Testing

@Suite("A URL that tokens are sent to")
struct HTTPURLTests {
  @Test(
    "is taken where it is whole",
    arguments: [
      ("https://api.example.com", "https://api.example.com", "/"),
      ("HTTPS://API.Example.COM:443/a", "https://api.example.com", "/a"),
      ("https://api.example.com:8443/a/b?c=d&e=%2F", "https://api.example.com:8443", "/a/b?c=d&e=%2F"),
      ("https://api.example.com?q=1", "https://api.example.com", "/?q=1"),
      ("https://api.example.com/user@host", "https://api.example.com", "/user@host"),
      ("https://[2001:db8::1]:8443/", "https://[2001:db8::1]:8443", "/"),
      ("http://127.0.0.1:8080/x", "http://127.0.0.1:8080", "/x"),
      ("http://127.8.9.10/", "http://127.8.9.10", "/"),
      ("http://localhost/", "http://localhost", "/"),
      ("http://[::1]:9/", "http://[::1]:9", "/"),
      ("https://under_score.example.com/", "https://under_score.example.com", "/"),
      ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example", "/"),
    ])
  func takes(text: String, origin: String, target: String) throws {
    let url = try HTTPURL(text)
    #expect(url.origin.description == origin)
    #expect(url.target == target)
    #expect(try HTTPURL(url.description) == url)
  }

  @Test(
    "is refused with the reason it has",
    arguments: [
      ("", .notAbsolute), ("api.example.com/x", .notAbsolute), ("//api.example.com/x", .notAbsolute),
      ("mailto:me@example.com", .notAbsolute),
      ("ftp://api.example.com/", .notHTTP), ("file:///etc/passwd", .notHTTP), ("javascript://x", .notHTTP),
      (" https://api.example.com/", .notHTTP), ("://x", .notHTTP), ("httpſ://api.example.com/", .notHTTP),
      ("https://user@api.example.com/", .userInformation), ("https://user:word@api.example.com/", .userInformation),
      ("http://127.0.0.1@evil.com/", .userInformation), ("https://api.example.com:443@evil.com/", .userInformation),
      ("https://@api.example.com/", .userInformation),
      ("https://api.example.com/#top", .fragment), ("https://evil.com#@api.example.com/", .fragment),
      ("https://", .badHost), ("https:///path", .badHost), ("https://?q", .badHost), ("https://:443/", .badHost),
      ("https://a..b/", .badHost), ("https://api.example.com./", .badHost), ("https://.example.com/", .badHost),
      ("https://api%2eexample.com/", .badHost), ("https://api,example/", .badHost), ("https://[::1/", .badHost),
      ("https://[::1]x/", .badHost), ("https://[::1]]/", .badHost), ("https://[]/", .badHost),
      ("https://[example.com]/", .badHost), ("https://[fe80::1%25eth0]/", .badHost), ("https://a]b/", .badHost),
      ("https://api.example.com:/", .badPort), ("https://api.example.com:0/", .badPort),
      ("https://api.example.com:65536/", .badPort), ("https://api.example.com:x/", .badPort),
      ("https://api.example.com:-1/", .badPort), ("https://api.example.com:+1/", .badPort),
      ("https://api.example.com:1:2/", .badPort), ("https://api.example.com:000443/", .badPort),
      ("https://api.example.com\\@evil.com/", .badCharacter), ("https://api.example.com\\.evil.com/", .badCharacter),
      ("https://api.example.com/a b", .badCharacter), ("https://api.example.com/a\r\nX: y", .badCharacter),
      ("https://api.example.com/a\u{0}", .badCharacter), ("https://api.example.com/\t", .badCharacter),
      ("https://api.example.com/\u{7f}", .badCharacter), ("https://api.example.com/é", .badCharacter),
      ("https://bücher.example/", .badCharacter), ("https://api.example.com\u{2025}/", .badCharacter),
      ("https://api.example.com/%", .badCharacter), ("https://api.example.com/%4", .badCharacter),
      ("https://api.example.com/%zz", .badCharacter), ("https://api.example.com/%%41", .badCharacter),
      ("https://api.example.com/[x]", .badCharacter), ("https://api.example.com/{x}", .badCharacter),
      ("https://api.example.com/\"", .badCharacter), ("https://api.example.com/<x>", .badCharacter),
      ("http://api.example.com/", .plainHTTP), ("http://127.0.0.1.evil.com/", .plainHTTP),
      ("http://localhost.evil.com/", .plainHTTP), ("http://128.0.0.1/", .plainHTTP), ("http://127.1/", .plainHTTP),
      ("http://127.0.0.256/", .plainHTTP), ("http://127.0.0.1.1/", .plainHTTP), ("http://2130706433/", .plainHTTP),
      ("http://0x7f.0.0.1/", .plainHTTP), ("http://[::2]/", .plainHTTP), ("http://[::ffff:127.0.0.1]/", .plainHTTP),
      ("http://0.0.0.0/", .plainHTTP),
    ] as [(String, HTTPURL.ParseError)])
  func refuses(text: String, reason: HTTPURL.ParseError) {
    #expect(throws: reason) { try HTTPURL(text) }
  }

  @Test("has one origin however it is written, and another one for each scheme, host and port")
  func comparesOrigins() throws {
    let origin = try HTTPURL("https://api.example.com/a").origin
    #expect(try HTTPURL("HTTPS://API.EXAMPLE.COM:443/b?c").origin == origin)
    for other in [
      "https://api.example.com:444/", "https://api.example.org/", "https://example.com/", "https://xapi.example.com/",
    ] {
      #expect(try HTTPURL(other).origin != origin)
    }
    #expect(try HTTPURL("http://localhost/").origin != HTTPURL("https://localhost/").origin)
  }
}
