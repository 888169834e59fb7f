/// Programs that were built along with the tests.
package enum BuiltProduct {
  /// The program's path: beside the test bundle.
  package static func path(_ name: String, file: String = #filePath) -> String {
    for argument in CommandLine.arguments {
      guard let bundle = argument.range(ofFirst: ".xctest"), let slash = argument[..<bundle].lastIndex(of: "/")
      else { continue }
      return "\(argument[..<slash])/\(name)"
    }
    let root = file.split(separator: "/").dropLast(3).joined(separator: "/")
    return "/\(root)/.build/debug/\(name)"
  }
}

extension String {
  fileprivate func range(ofFirst text: String) -> String.Index? {
    indices.first { self[$0...].hasPrefix(text) }
  }
}
