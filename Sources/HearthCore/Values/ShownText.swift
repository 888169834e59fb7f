extension Unicode.Scalar {
  /// Whether this character may be shown unchanged on a terminal and in a log.
  ///
  /// It may not if it controls the output instead of appearing in it: control characters (C0, DEL and C1), line and
  /// paragraph separators, characters that change the direction of writing (Unicode Standard Annex #9), and all other
  /// format characters. It may not either if it is invisible (default ignorable code points, such as zero-width
  /// joiners, variation selectors and tags: Unicode Standard, section 5.21), or has no agreed meaning (unassigned and
  /// private code points). Joiners are used in some scripts and in emoji, but two names that look alike must not
  /// differ.
  package var isPlain: Bool {
    if value < 0x7F { return value >= 0x20 }
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: return false
    default: return !properties.isDefaultIgnorableCodePoint
    }
  }
}

extension String {
  /// The maximum number of characters of an untrusted text that are shown, unless a field says otherwise.
  package static let shownLength = 4096

  /// Returns this text in a form that is safe to show, whoever wrote it. Replaces each character that is not plain (see
  /// `isPlain`) with an escape such as `\u{1B}`. Truncates the result to `limit` Unicode scalars and marks the cut with
  /// an ellipsis.
  ///
  /// Untrusted text must pass through this function before it reaches a terminal or a log. If `keepsLines` is true,
  /// line feeds are kept.
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

  /// This text with at most 30 marks on a character: the stream-safe text format, which separates more of them by a
  /// joiner (Unicode Standard Annex #15, section 13).
  ///
  /// To compare or hash a text, Swift sorts the marks on each character, which takes time quadratic in their number. So
  /// untrusted text is made stream-safe when it is read.
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

  /// Cuts the text to `limit` scalars with the ellipsis, since a character can have any number of marks.
  static func cut(_ scalars: UnicodeScalarView, to limit: Int) -> String {
    String(UnicodeScalarView(scalars.prefix(limit - 1))) + "…"
  }
}

extension String {
  /// In Unicode scalars.
  package static let quotedNameLength = 100

  /// A caller's name in an error message: safe to show, and no longer than a line.
  package var quotedName: String { "\"\(shown(limit: Self.quotedNameLength))\"" }
}
