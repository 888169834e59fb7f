import Dispatch
import Glibc
import HearthThreads
import Synchronization

/// Identifies the file at a path, regardless of the path's spelling and links. A file that does not exist yet is
/// identified by its nearest existing parent folder and the remaining names.
package struct FilePlace: Hashable, Sendable {
  private var device: dev_t = 0
  private var inode: ino_t = 0
  private var rest: [String] = []
  /// The path with all links resolved.
  private var path = ""

  /// Returns the place of a path. Follows at most `links` dangling links.
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

  /// Returns whether the file is directly inside the folder.
  package func isIn(_ folder: FilePlace) -> Bool { self.folder == folder.path }

  /// Returns whether the file is inside the folder or one of its subfolders.
  package func isWithin(_ folder: FilePlace) -> Bool { path.hasPrefix(folder.path + "/") }

  private final class Found: Sendable {
    let places = Mutex<[FilePlace]?>(nil)
  }

  /// Returns the place of each path, in order. If a file system does not respond within 2 seconds, each place contains
  /// only its path.
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
