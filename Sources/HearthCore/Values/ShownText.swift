extension Unicode.Scalar {
  /// Whether the character can be shown unchanged on a terminal and in a log.
  ///
  /// Characters are not plain if they control the output instead of appearing in it: control characters (C0, DEL and
  /// C1), line and paragraph separators, characters that change the writing direction (Unicode Standard Annex #9), and
  /// all other format characters.
  ///
  /// Invisible characters are not plain either (default ignorable code points, such as zero-width joiners, variation
  /// selectors and tags: Unicode Standard, section 5.21), nor are characters without an agreed meaning (unassigned and
  /// private-use code points). Some scripts and emoji use joiners, but joiners can make two names look alike.
  package var isPlain: Bool {
    if value < 0x7F { return value >= 0x20 }
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: return false
    default: return !properties.isDefaultIgnorableCodePoint
    }
  }
}

extension String {
  /// The default maximum number of characters that are shown from untrusted text.
  package static let shownLength = 4096

  /// Returns the string in a form that is safe to show, even if the text is untrusted. Each character that is not plain
  /// (see `isPlain`) becomes an escape such as `\u{1B}`. The result has at most `limit` Unicode scalars, and ends with
  /// an ellipsis if it was truncated.
  ///
  /// Untrusted text must pass through this function before it reaches a terminal or a log. If `keepsLines` is true,
  /// line feeds stay unchanged.
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

  /// The string in stream-safe text format: after 30 combining marks in a row, a joiner is inserted (Unicode Standard
  /// Annex #15, section 13).
  ///
  /// To compare or hash a string, Swift sorts the marks on each character in quadratic time. Hearth therefore makes
  /// untrusted text stream-safe when it reads the text.
  package var streamSafe: String {
    if utf8.withContiguousStorageIfAvailable({ $0.allSatisfy { $0 < 0x80 } }) ?? false { return self }
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

  /// Truncates the text to `limit` scalars, including the ellipsis. Counts scalars, because a character can have any
  /// number of marks.
  static func cut(_ scalars: UnicodeScalarView, to limit: Int) -> String {
    String(UnicodeScalarView(scalars.prefix(limit - 1))) + "…"
  }

  /// The maximum length of `quotedName` without its quotes, in Unicode scalars.
  package static let quotedNameLength = 100

  /// The string in quotes, for use as a name in an error message. It is safe to show and fits on a line.
  package var quotedName: String { "\"\(shown(limit: Self.quotedNameLength))\"" }

  /// The text without trailing periods and whitespace, for use within a sentence.
  package var withoutStop: String { String(reversed().drop { $0 == "." || $0.isWhitespace }.reversed()) }
}
