import FoundationEssentials
import Glibc

/// A folder of its own, with a short path so that sockets fit, removed with all that is in it.
package final class TemporaryFolder: Sendable {
  package let path: String

  package init() {
    var template = Array("/tmp/hearth-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { fatalError("mkdtemp: \(String(cString: strerror(errno)))") }
    path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  package func file(_ name: String) -> String { "\(path)/\(name)" }
}
