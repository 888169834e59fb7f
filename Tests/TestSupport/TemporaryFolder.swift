import FoundationEssentials
import Glibc

/// A folder of its own, with a short path so that sockets fit. It goes, with all that is in it, with its last reference,
/// or earlier where a test says so.
package final class TemporaryFolder: Sendable {
  package let path: String

  /// `isFast`: in memory, where the system has a place for that.
  package init(isFast: Bool = false) {
    let place = isFast && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    var template = Array("\(place)/hearth-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { fatalError("mkdtemp: \(String(cString: strerror(errno)))") }
    path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }

  deinit { remove() }

  package func remove() {
    try? FileManager.default.removeItem(atPath: path)
  }

  package func file(_ name: String) -> String { "\(path)/\(name)" }

  /// The names of the files in it.
  package var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
  }

  package func bytes(of name: String) -> [UInt8] {
    FileManager.default.contents(atPath: file(name)).map(Array.init) ?? []
  }
}
