extension Unicode.Scalar {
  /// Whether a text may show this character as it stands, on a terminal and in a log.
  ///
  /// It may not where it steers instead of showing: control characters (C0, DEL and C1), line and paragraph separators,
  /// what changes the direction of writing (Unicode Standard Annex #9), and every other format character; where it is
  /// not seen (default ignorable code points, as zero-width joiners, variation selectors and tags are: Unicode Standard,
  /// section 5.21); and where it means nothing that all agree on (unassigned and private code points). Joiners have
  /// their use in some scripts and in emoji, but two names that look alike must not be two.
  package var isPlain: Bool {
    if value < 0x7F { return value >= 0x20 }
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: return false
    default: return !properties.isDefaultIgnorableCodePoint
    }
  }
}

extension String {
  /// How many characters of a text from outside are shown at most, where a field says nothing else.
  package static let shownLength = 4096

  /// This text fit to be shown to a person, whoever wrote it: what is not plain stands as an escape, `\u{1B}`, and what
  /// exceeds `limit` (in Unicode scalars of the result) is cut off with an ellipsis.
  ///
  /// It is the one way in which text from outside reaches a terminal or a log. `keepsLines`: for a text of several lines,
  /// in which line feeds stand as they are.
  package func shown(limit: Int = String.shownLength, keepsLines: Bool = false) -> String {
    if isPlainASCII(keepsLines), utf8.count <= limit { return self }
    var shown = UnicodeScalarView()
    var count = 0
    for scalar in unicodeScalars {
      if scalar.isPlain || keepsLines && scalar == "\n" {
        count += 1
        guard count <= limit else { return Self.cut(shown, to: limit) }
        shown.append(scalar)
      } else {
        let escape = "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars
        count += escape.count
        guard count <= limit else { return Self.cut(shown, to: limit) }
        shown.append(contentsOf: escape)
      }
    }
    return String(shown)
  }

  /// This text with at most 30 marks upon a character: the stream-safe text format, which parts more of them by a joiner
  /// (Unicode Standard Annex #15, section 13).
  ///
  /// To compare or hash a text, Swift sorts the marks upon each character, in a time that grows with the square of their
  /// number. So text from outside becomes stream-safe where it is read.
  package var streamSafe: String {
    if utf8.allSatisfy({ $0 < 0x80 }) { return self }
    var safe = UnicodeScalarView()
    var marks = 0
    for scalar in unicodeScalars {
      marks = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : marks + 1
      if marks > 30 {
        safe.append("\u{34F}")
        marks = 1
      }
      safe.append(scalar)
    }
    return String(safe)
  }

  private func isPlainASCII(_ keepsLines: Bool) -> Bool {
    utf8.allSatisfy { (0x20..<0x7F).contains($0) || keepsLines && $0 == UInt8(ascii: "\n") }
  }

  /// With the ellipsis no longer than `limit`; by scalars, for a character can have any number of marks.
  static func cut(_ scalars: UnicodeScalarView, to limit: Int) -> String {
    String(UnicodeScalarView(scalars.prefix(limit - 1))) + "…"
  }
}
