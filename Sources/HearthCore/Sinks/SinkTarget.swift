/// The target of a sink: a whole file, or its account's entries in a netrc file.
package enum SinkTarget: Hashable, Sendable, CustomStringConvertible {
  case file(String)
  case netrc(AccountName, in: String)

  package var path: String {
    switch self {
    case .file(let path), .netrc(_, let path): path
    }
  }

  /// The target as a string for `SinkRecord`. It starts with a slash only if the target is a whole file.
  package var description: String {
    switch self {
    case .file(let path): path
    case .netrc(let account, let path): "netrc:\(account):\(path)"
    }
  }

  package init?(_ text: String) {
    if text.hasPrefix("/") {
      self = .file(text)
      return
    }
    let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, parts[0] == "netrc", let account = AccountName(parts[1]), parts[2].hasPrefix("/") else {
      return nil
    }
    self = .netrc(account, in: parts[2])
  }
}
