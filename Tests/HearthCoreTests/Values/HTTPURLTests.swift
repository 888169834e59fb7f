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
      ("https://api.example.com\\@evil.com/", .userInformation), ("https://api.example.com\\.evil.com/", .badHost),
      ("https://api.example.com evil.com/", .badHost), ("https://api.example.com\u{0}/", .badHost),
      ("https://api.example.com\t/", .badHost), ("https://api.example.com\r\n/", .badHost),
      ("https://bücher.example/", .hostBeyondASCII), ("https://api.example.com\u{2025}/", .hostBeyondASCII),
      ("https://api.example.com/a b", .badCharacter(" ")), ("https://api.example.com/a\r\nX: y", .badCharacter("\r")),
      ("https://api.example.com/a\u{0}", .badCharacter("\0")), ("https://api.example.com/\t", .badCharacter("\t")),
      ("https://api.example.com/\u{7f}", .badCharacter("\u{7F}")), ("https://api.example.com/é", .badCharacter("é")),
      ("https://api.example.com/%", .badCharacter("%")), ("https://api.example.com/%4", .badCharacter("%")),
      ("https://api.example.com/%zz", .badCharacter("%")), ("https://api.example.com/%%41", .badCharacter("%")),
      ("https://api.example.com/[x]", .badCharacter("[")), ("https://api.example.com/{x}", .badCharacter("{")),
      ("https://api.example.com?x[]=1", .badCharacter("[")), ("https://api.example.com/a]", .badCharacter("]")),
      ("https://api.example.com/\"", .badCharacter("\"")), ("https://api.example.com/<x>", .badCharacter("<")),
      ("https://api.example.com/a\\b", .badCharacter("\\")),
      ("http://api.example.com/", .plainHTTP), ("http://127.0.0.1.evil.com/", .plainHTTP),
      ("http://localhost.evil.com/", .plainHTTP), ("http://128.0.0.1/", .plainHTTP), ("http://127.1/", .plainHTTP),
      ("http://127.0.0.256/", .plainHTTP), ("http://127.0.0.1.1/", .plainHTTP), ("http://2130706433/", .plainHTTP),
      ("http://0x7f.0.0.1/", .plainHTTP), ("http://[::2]/", .plainHTTP), ("http://[::ffff:127.0.0.1]/", .plainHTTP),
      ("http://0.0.0.0/", .plainHTTP),
    ] as [(String, HTTPURL.ParseError)])
  func refuses(text: String, reason: HTTPURL.ParseError) {
    #expect(throws: reason) { try HTTPURL(text) }
  }

  @Test(
    "is encoded where people write it as for browsers and curl, and stays what it is then",
    arguments: [
      ("https://api.example.com/a?filter[status]=open", "/a?filter%5Bstatus%5D=open"),
      ("https://api.example.com?a[]=1&a[]=2", "/?a%5B%5D=1&a%5B%5D=2"),
      ("https://api.example.com/[x]/{y}", "/%5Bx%5D/%7By%7D"),
      ("https://api.example.com/a?q={\"x\":\"<1>\"}|y^z`", "/a?q=%7B%22x%22:%22%3C1%3E%22%7D%7Cy%5Ez%60"),
      ("https://api.example.com/two words?q=a b", "/two%20words?q=a%20b"),
      ("https://api.example.com/é/日?q=ü\u{301}", "/%C3%A9/%E6%97%A5?q=%C3%BC%CC%81"),
      ("https://api.example.com/a?path=c:\\d", "/a?path=c:%5Cd"),
      ("https://api.example.com/a?\u{301}=\\", "/a?%CC%81=%5C"),
      ("  https://api.example.com/a?b[c]=%5B%2f  ", "/a?b%5Bc%5D=%5B%2f"),
      (" https://api.example.com ", "/"),
      ("https://api.example.com/it's!(a)*;v=1?b:/?@,c+d", "/it's!(a)*;v=1?b:/?@,c+d"),
    ])
  func encodes(text: String, target: String) throws {
    let url = try HTTPURL(encoding: text)
    #expect(url.target == target)
    #expect(url.origin.description == "https://api.example.com")
    #expect(try HTTPURL(url.description) == url && HTTPURL(encoding: url.description) == url)
  }

  @Test(
    "is refused with the character and its encoding where nobody can know what is meant, and leads to no other host",
    arguments: [
      ("https://api.example.com/a\\b", "it contains the character \\; write %5C"),
      ("https://api.example.com/100%?a[b]=1", "it has a % without two hexadecimal digits after it; write %25 instead"),
      ("https://api.example.com/a[b]\nc", "it contains the character U+000A; write %0A"),
      ("https://api.example.com/a\r\nX: y", "it contains the character U+000D; write %0D"),
      ("https://api.example.com/a\tb", "it contains the character U+0009; write %09"),
      ("https://api.example.com/a[b]\n", "it contains the character U+000A; write %0A"),
      ("https://api.example.com/\0", "it contains the character U+0000; write %00"),
      ("https://api.example.com/\u{7F}", "it contains the character U+007F; write %7F"),
      ("https://api.example.com/a[b]#c", "it has a fragment (if the # belongs to the path or the query, write %23)"),
      ("https://me@api.example.com/a[b]", "it contains user information before the host"),
      ("https://api.example.com\\@evil.com/[", "it contains user information before the host"),
      ("https://api.example.com\\[x]/", "its host is not valid"),
      ("https://api.example.com [x]/", "its host is not valid"),
      ("https://[x]/", "its host is not valid"),
      (
        "https://bücher.example/[x]",
        "its host contains non-ASCII characters; write it in Punycode, like xn--bcher-kva.example"
      ),
      ("http://api.example.com/[x]", "http is allowed only for loopback addresses; use https"),
      ("filter[status]=open", "it is not an absolute URL"),
    ])
  func namesCharacters(text: String, reason: String) {
    #expect { _ = try HTTPURL(encoding: text) } throws: { "\($0)" == reason }
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
