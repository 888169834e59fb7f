import HearthCore

/// Rows in columns as wide as their widest cell.
struct Table {
  let headings: [String]
  var rows: [[String]] = []

  var text: String {
    let lines = [headings] + rows.map { $0.map { $0.shown() } }
    let widths = headings.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    return lines.map { cells in
      zip(cells, widths).map { $0.padded(to: $1 + 2) }.joined().trimmingBlanksAtEnd()
    }.joined(separator: "\n")
  }
}

extension String {
  func trimmingBlanksAtEnd() -> String {
    guard let last = lastIndex(where: { $0 != " " }) else { return "" }
    return String(self[...last])
  }
}
