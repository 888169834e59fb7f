import Glibc

/// A folder for the files of one test. `remove()` takes it away with what is in it.
package struct ScratchFolder: Sendable {
  package let path: String

  /// `isFast`: in memory, where the system has a place for that.
  package init(isFast: Bool = false) {
    let place = isFast && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    var template = Array("\(place)/hearth-test-XXXXXX".utf8CString)
    path = template.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress, mkdtemp(base) != nil else { return "/nonexistent" }
      return String(cString: base)
    }
  }

  package func file(_ name: String) -> String { "\(path)/\(name)" }

  /// The names of the files in it.
  package var names: [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  package func bytes(of name: String) -> [UInt8] {
    guard let file = fopen(file(name), "r") else { return [] }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer.prefix(count) }
    return bytes
  }

  package func remove() {
    for name in names { unlink(file(name)) }
    rmdir(path)
  }
}
