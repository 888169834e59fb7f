import HearthCore
import Testing

/// The inputs that take a parser the longest, in any size.
struct WorstInput: CustomTestStringConvertible {
  let target: FuzzTarget
  let name: String
  /// An input of about this many bytes.
  let make: @Sendable (Int) -> [UInt8]

  var testDescription: String { "\(target.rawValue): \(name)" }

  private init(_ target: FuzzTarget, _ name: String, _ make: @escaping @Sendable (Int) -> String) {
    (self.target, self.name) = (target, name)
    self.make = { Array(make($0).utf8) }
  }

  static let all: [WorstInput] = json + toml + credentials + responses + signIns + others

  /// Combining marks on one letter, in the order that takes the longest to sort.
  private static func marks(_ count: Int) -> String {
    "a" + repeated("\u{301}", count / 2) + repeated("\u{316}", count / 2)
  }

  private static func repeated(_ piece: String, _ count: Int) -> String {
    String(repeating: piece, count: max(count / piece.utf8.count, 1))
  }

  private static func numbered(_ count: Int, _ separator: String, _ piece: (Int) -> String) -> String {
    (0..<max(count / 12, 1)).map(piece).joined(separator: separator)
  }

  private static func nested(_ text: String) -> String { repeated("[", 120) + text + repeated("]", 120) }

  private static let json = [
    WorstInput(.json, "marks in a key") { "{\"\(marks($0))\":1,\"\(marks($0))b\":1}" },
    WorstInput(.json, "marks in a method") { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\(marks($0))\"}" },
    WorstInput(.json, "many keys") { "{" + numbered($0, ",") { "\"k\($0)\":\($0)" } + "}" },
    WorstInput(.json, "deep lists") { nested(repeated("1,", $0) + "1") },
    WorstInput(.json, "escapes") { "\"" + repeated("\\u0301", $0) + "\"" },
    WorstInput(.json, "digits") { repeated("1", $0) },
  ]

  private static let toml = [
    WorstInput(.toml, "a deep key") { repeated("a.", $0) + "a = 1" },
    WorstInput(.toml, "many tables") { numbered($0, "\n") { "[accounts.a\($0)]" } },
    WorstInput(.toml, "many deep tables") { repeated("[" + repeated("a.", 100) + "a]\n", $0) },
    WorstInput(.toml, "marks in a key") { "\"\(marks($0))\" = 1\n\"\(marks($0))b\" = 1" },
    WorstInput(.toml, "many unknown keys") { numbered($0, "\n") { "k\($0) = 1" } },
  ]

  private static let credentials = [
    WorstInput(.credential, "marks in a key") { "{\"version\":1,\"\(marks($0))\":1}" },
    WorstInput(.credential, "deep lists") { "{\"version\":1,\"a\":\(nested(repeated("1,", $0) + "1"))}" },
    WorstInput(.credential, "many keys") { "{\"version\":1," + numbered($0, ",") { "\"k\($0)\":\($0)" } + "}" },
  ]

  /// The first two bytes: the status 200 or 400, and the kind (a grant, Firebase, a backend or discovery).
  private static let responses = [
    WorstInput(.response, "a long type") {
      "\0\0\n{\"access_token\":\"\(repeated("a", $0))\",\"token_type\":\"\(repeated("a", $0))b\"}"
    },
    WorstInput(.response, "tokens that begin alike") {
      "\u{2}\0\n{\"error\":\"\(repeated("a", $0))\",\"tokens\":["
        + numbered(min($0, 4096), ",") { "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\($0)\"" } + "]}"
    },
    WorstInput(.response, "many fields of a form") {
      "\u{2}\0application/x-www-form-urlencoded\n" + numbered($0, "&") { "error\($0)=x" }
    },
    WorstInput(.response, "one field of a form, often") {
      "\u{2}\0application/x-www-form-urlencoded\n" + repeated("error=invalid_grant&", $0) + "a=b"
    },
    WorstInput(.response, "marks in a form") {
      "\u{2}\0application/x-www-form-urlencoded\nerror=\(marks($0))&\(marks($0))=b"
    },
    WorstInput(.response, "marks in a header") { "\u{2}\0\(marks($0))\n{\"error\":\"invalid_grant\"}" },
    WorstInput(.response, "a long header") { "\u{2}\0\(repeated("Sat, ", $0))\n{\"error\":\"invalid_grant\"}" },
    WorstInput(.response, "marks in an error") { "\u{2}\0\n{\"error\":\"\(marks($0))\",\"\(marks($0))\":1}" },
    WorstInput(.response, "many errors") { "\u{2}\0\n{\"errors\":[" + repeated("{\"message\":\"x\"},", $0) + "1]}" },
    WorstInput(.response, "many details") {
      "\u{2}\0\n{\"error\":{\"details\":[" + repeated("{\"reason\":\"x\"},", $0) + "1]}}"
    },
    WorstInput(.response, "deep lists") { "\u{2}\u{2}\n{\"a\":\(nested(repeated("1,", $0) + "1"))}" },
    WorstInput(.response, "many keys") { "\u{2}\u{2}\n{" + numbered($0, ",") { "\"k\($0)\":\"\($0)\"" } + "}" },
    WorstInput(.response, "a long page") { "\u{2}\0\n" + repeated("<a>", $0) },
    WorstInput(.response, "a long issuer") { "\0\u{3}\n{\"issuer\":\"\(marks($0))\"}" },
    WorstInput(.response, "an ID token with many audiences") {
      "\0\0\n{\"access_token\":\"a\",\"id_token\":\"e30.\(repeated("e30A", $0)).\"}"
    },
  ]

  private static let signIns = [
    WorstInput(.signin, "a long query") { "\0GET\n127.0.0.1:4711\n/callback?" + repeated("state=a&", $0) },
    WorstInput(.signin, "marks in a query") { "\0GET\n127.0.0.1:4711\n/callback?state=\(marks($0))&\(marks($0))" },
    WorstInput(.signin, "marks in a host") { "\0GET\n\(marks($0))\n/callback" },
    WorstInput(.signin, "a long description") {
      "\0GET\n127.0.0.1:4711\n/callback?state=s3cret-state-0123456789&error=x&error_description=" + repeated("s3", $0)
    },
    WorstInput(.signin, "a long address") { "\u{1}http://127.0.0.1:4711/callback?" + repeated("%41=&", $0) },
    WorstInput(.signin, "many errors of a poll") {
      "\u{3}\u{1}\n{\"errors\":[" + repeated("{\"message\":\"x\"},", $0) + "1]}"
    },
  ]

  private static let others = [
    WorstInput(.jwt, "a long token") { "e30.\(repeated("e30A", $0)).e30" },
    WorstInput(.jwt, "many dots") { repeated(".", $0) },
    WorstInput(.idtoken, "many keys") { "e30.e30.e30\n{\"keys\":[" + repeated("{\"kty\":\"EC\"},", $0) + "1]}" },
    WorstInput(.framer, "a long line") { repeated("a", $0) },
    WorstInput(.framer, "many lines") { "aaaaaaaa" + repeated("a\n", $0) },
    WorstInput(.rows, "long texts") { repeated("\u{7F}a", $0) },
  ]
}
