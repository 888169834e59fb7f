/// Replaces what differs from run to run by fixed words, each by its shape and place, and nothing else.
///
/// The same text gets the same word throughout one file, so that it shows which of two fingerprints or items is meant.
final class Mask {
  private let folder: String
  private var words: [String: [String: Int]] = [:]
  /// The first `seq` that was seen: what follows is told relative to it.
  private var firstSeq: Int?
  /// For what comes after an unknown number of events.
  var hidesSeq = false

  init(folder: String) {
    self.folder = folder
  }

  private func word(_ kind: String, _ text: Substring) -> String {
    let number = words[kind]?[String(text)] ?? (words[kind]?.count ?? 0) + 1
    words[kind, default: [:]][String(text)] = number
    return "\(kind)-\(number)"
  }

  /// A line of the wire.
  func callAsFunction(_ text: String) -> String {
    var text = common(text)
    text = text.replacing(/"((?:previousF|f)ingerprint)":"([0-9a-f]{8})"/) { match in
      "\"\(match.output.1)\":\"\(self.word("FINGERPRINT", match.output.2))\""
    }
    text = text.replacing(/"signIn":"([0-9a-z]{18,25})"/) { "\"signIn\":\"\(self.word("SIGN-IN", $0.output.1))\"" }
    text = text.replacing(/"Date":"[^"]+"/, with: #""Date":"TIME""#)
    text = text.replacing(/"pid":\d+/, with: #""pid":"PID""#)
    text = text.replacing(/"version":"[0-9.]+"/, with: #""version":"VERSION""#)
    text = text.replacing(/"remainingSeconds":\d+/, with: #""remainingSeconds":"SECONDS""#)
    text = text.replacing(/"ageSeconds":\d+/, with: #""ageSeconds":"SECONDS""#)
    // Long waits are drawn by chance, or count down; the short ones are always the same.
    text = text.replacing(/"retryAfterSeconds":\d{3,4}/, with: #""retryAfterSeconds":"SECONDS""#)
    return text.replacing(/"seq":(\d+)/) { match in
      guard !self.hidesSeq, let number = Int(match.output.1) else { return #""seq":"SEQ""# }
      let first = self.firstSeq ?? number
      self.firstSeq = first
      return "\"seq\":\"SEQ+\(number - first)\""
    }
  }

  /// A line of the daemon's log.
  func log(_ text: String) -> String {
    var text = common(text)
    text = text.replacing(/(fingerprint=)([0-9a-f]{8})/) { "\($0.output.1)\(self.word("FINGERPRINT", $0.output.2))" }
    text = text.replacing(/Hearth [0-9.]+ is ready/, with: "Hearth VERSION is ready")
    return text.replacing(/version=[0-9.]+/, with: "version=VERSION")
  }

  /// What hearthctl writes: JSON, or text for people with spans of time in it.
  func people(_ text: String) -> String {
    var text = self(text)
    text = text.replacing(/(hearthctl|hearthd) \d+\.\d+\.\d+/) { "\($0.output.1) VERSION" }
    // The sandbox's own, in whole seconds.
    text = text.replacing(/"expiresAt":"20[0-9T:-]+Z"/, with: #""expiresAt":"TIME""#)
    text = text.replacing(/process \d+/, with: "process PID")
    // Spans become one word first, however long they are.
    text = text.replacing(/\b(?:\d+ d(?: \d+ h)?|\d+ h(?: \d+ min)?|\d+ min|\d+ s)\b/, with: "SPAN")
    text = text.replacing(
      /(refreshed|signed in|rejected|unavailable|oldest from|oldest {4}|started|next try) (?:just now|now|(?:in )?SPAN(?: ago)?)/
    ) {
      "\($0.output.1) WHEN"
    }
    // The column of ages, between two others, is as wide as the longest of them.
    text = text.replacing(/(  \d+  +)SPAN +/) { "\($0.output.1)AGE  " }
    return text.replacing(/(TRIES  )AGE +/) { "\($0.output.1)AGE  " }
  }

  /// The numbers of metrics: in text, which may be quoted in JSON, and in JSON. How long the calls before took would be
  /// many lines of text that say little.
  private func metrics(_ text: String) -> String {
    var text = text.replacing(/hearth_rpc_duration_seconds_[a-z]+\{[^}]*\} [0-9.e+-]+(?:\\n|\n)/, with: "")
    text = text.replacing(/(hearth_[a-z_]+(?:\{[^}]*\})?) [0-9][0-9.e+-]*(?=\\n|\n)/) {
      "\($0.output.1) NUMBER"
    }
    text = text.replacing(/version=(\\?")[0-9.]+/) { "version=\($0.output.1)VERSION" }
    text = text.replacing(/"value":[0-9.e+-]+/, with: #""value":"NUMBER""#)
    text = text.replacing(/("le":[0-9.e+-]+,"count":)\d+/) { "\($0.output.1)\"NUMBER\"" }
    return text.replacing(/"count":\d+,"sum":[0-9.e+-]+/, with: #""count":"NUMBER","sum":"NUMBER""#)
  }

  private func common(_ text: String) -> String {
    var text = metrics(text.replacing(folder, with: "FOLDER"))
    text = text.replacing(/(127\.0\.0\.1|localhost):[0-9]{4,5}/) { "\($0.output.1):PORT" }
    text = text.replacing(/(?:at|rt)_[0-9a-f]{64}/) { self.word("TOKEN", $0.output) }
    text = text.replacing(/eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+/) { self.word("TOKEN", $0.output) }
    text = text.replacing(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/) {
      self.word("ITEM", $0.output)
    }
    text = text.replacing(/corrupt-20\d{6}T\d{9}Z/, with: "corrupt-TIME")
    // Times that the tests themselves give lie beyond this century.
    return text.replacing(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/, with: "TIME")
  }
}
