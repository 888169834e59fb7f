import Dispatch
import Glibc
import HearthThreads
import Synchronization

/// The file that a path leads to, however it is spelled and whatever links it goes through. If the file does not exist
/// yet, this is the nearest existing folder above it and the names below that.
package struct FilePlace: Hashable, Sendable {
  private var device: dev_t = 0
  private var inode: ino_t = 0
  private var rest: [String] = []
  /// The path without links, to decide which folder it is in.
  private var path = ""

  /// Follows at most `links` links whose targets do not exist yet.
  private static func of(_ path: String, links: Int = 40) -> FilePlace {
    var status = stat()
    if stat(path, &status) == 0 {
      let real = realpath(path, nil)
      defer { free(real) }
      return FilePlace(
        device: status.st_dev, inode: status.st_ino, path: real.map { String(cString: $0) } ?? path)
    }
    let parts = path.split(separator: "/")
    guard let name = parts.last else { return FilePlace(rest: [path], path: path) }
    let folder = "/" + parts.dropLast().joined(separator: "/")
    if links > 0, let target = try? linkTarget(of: path) {
      return of(target.hasPrefix("/") ? target : folder + "/" + target, links: links - 1)
    }
    var place = of(folder, links: links)
    switch name {
    case ".": break
    case ".." where !place.rest.isEmpty:
      place.rest.removeLast()
      place.path = place.folder
    default:
      place.rest.append(String(name))
      place.path += (place.path.hasSuffix("/") ? "" : "/") + name
    }
    return place
  }

  package static func == (one: FilePlace, other: FilePlace) -> Bool {
    one.device == other.device && one.inode == other.inode && one.rest == other.rest
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(inode)
    hasher.combine(rest)
  }

  private var folder: String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "" }

  /// Whether it is directly in this folder.
  package func isIn(_ folder: FilePlace) -> Bool { self.folder == folder.path }

  /// Whether it is in this folder or in one below it.
  package func isWithin(_ folder: FilePlace) -> Bool { path.hasPrefix(folder.path + "/") }

  private final class Found: Sendable {
    let places = Mutex<[FilePlace]?>(nil)
  }

  /// Returns the places of all paths, in order. If a file system hangs, each place is only its path.
  package static func all(_ paths: [String]) -> [FilePlace] {
    let (found, done) = (Found(), DispatchSemaphore(value: 0))
    WorkerThread(linger: 0).enqueue {
      let places = paths.map { FilePlace.of($0) }
      found.places.withLock { $0 = places }
      done.signal()
    }
    _ = done.wait(timeout: .now() + .seconds(2))
    return found.places.withLock(\.self) ?? paths.map { FilePlace(rest: [$0], path: $0) }
  }
}
