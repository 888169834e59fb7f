import HearthControl
package import HearthCore

/// sinks.json: the paths at which files of sinks lie, or may lie. It holds no secret.
package struct FileSinkRecord: SinkRecord {
  private static let sizeLimit = 1 << 20
  private static let version = 1

  private let file: AtomicFile
  private let files: any FileSystem
  private let clock: any Clock

  package init(path: String, files: any FileSystem, clock: any Clock) {
    file = AtomicFile(path: path, files: files)
    self.files = files
    self.clock = clock
  }

  package func recall() async throws(AccessFailure) -> Set<String> {
    let document: JSON?
    do throws(FileError) {
      let bytes = try await files.read(file.path, limit: Self.sizeLimit, followsLink: false).bytes
      document = try? JSON(parsing: bytes)
    } catch .absent {
      return []
    } catch {
      throw AccessFailure(error, at: file.path)
    }
    guard document?["version"]?.int == Self.version, let paths = document?["paths"]?.array else {
      let isNewer = document?["version"]?.int.map { $0 > Self.version } ?? false
      throw await setAside(as: isNewer ? "newer" : "corrupt")
    }
    return Set(paths.compactMap(\.string).filter { $0.hasPrefix("/") })
  }

  /// A person may still find the paths in it.
  private func setAside(as label: String) async -> AccessFailure {
    do throws(FileError) {
      let place = try await files.setAside(file.path, as: label, at: clock.now())
      return AccessFailure(.storageError, detail: "\(file.path) cannot be understood and was moved to \(place)")
    } catch {
      return AccessFailure(error, at: file.path)
    }
  }

  package func keep(_ paths: Set<String>) async throws(AccessFailure) {
    let document: JSON = [
      "version": JSON(Self.version), "paths": .array(paths.sorted().map { .string($0) }),
    ]
    do throws(FileError) {
      try await file.replace(with: Array("\(document)\n".utf8))
    } catch {
      throw AccessFailure(error, at: file.path)
    }
  }
}
