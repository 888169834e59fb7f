extension String {
  /// Nothing that a server said reaches a terminal as an escape sequence, looks like another line of ours, or changes
  /// the direction of writing.
  var onOneLine: String {
    String(
      String.UnicodeScalarView(
        unicodeScalars.map { scalar in
          switch scalar.properties.generalCategory {
          case .control, .format, .lineSeparator, .paragraphSeparator: " "
          default: scalar
          }
        }))
  }
}
