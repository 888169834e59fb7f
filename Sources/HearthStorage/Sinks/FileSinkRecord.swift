import HearthControl
package import HearthCore

/// The file sinks.json, which lists the files that sinks may have written, and their marks. It contains no secrets.
package struct FileSinkRecord: SinkRecord {
  private static let sizeLimit = 1 << 20
  private static let version = 1

  private let file: AtomicFile
  private let clock: any Clock

  package init(path: String, files: any FileSystem, clock: any Clock) {
    file = AtomicFile(path: path, files: files)
    self.clock = clock
  }

  package func recall() async throws -> [SinkTarget: [SinkMark]] {
    guard let document = try await document() else { return [:] }
    guard document["version"]?.int == Self.version, let paths = document["paths"]?.array else {
      // Set the file aside, so that a person can still find the paths in it.
      let newPath = try await file.setAside(as: "corrupt", at: clock.now())
      throw AccessFailure(.storageError, detail: "\(file.path) is unreadable and was moved to \(newPath)")
    }
    return Dictionary(
      paths.compactMap(\.string).compactMap { text in
        SinkTarget(text).map { ($0, document["marks"]?[text]?.array?.compactMap(\.string) ?? []) }
      }
    ) { first, _ in first }
  }

  package func keep(_ claims: [SinkTarget: [SinkMark]]) async throws {
    _ = try await document()
    let claims = claims.map { ($0.key.description, $0.value) }.sorted { $0.0 < $1.0 }
    var marks = JSONObject()
    for (target, files) in claims { marks[target] = .array(files.map { .string($0) }) }
    let document: JSON = [
      "version": JSON(Self.version), "paths": .array(claims.map { .string($0.0) }),
      "marks": .object(marks),
    ]
    try await accessing(file.path, await file.replace(with: Array("\(document)\n".utf8)))
  }

  /// Returns the file's content, `null` if it is not JSON, or `nil` if the file does not exist. Throws if a newer
  /// version of Hearth wrote the file, because that file must not be changed.
  private func document() async throws -> JSON? {
    guard let contents = try await file.read(limit: Self.sizeLimit) else { return nil }
    let document = (try? JSON(parsing: contents.bytes)) ?? .null
    if let version = document["version"]?.int, version > Self.version {
      throw AccessFailure(
        .storageError,
        detail: "\(file.path) was written by a newer version of Hearth; update Hearth, or rename the file")
    }
    return document
  }
}
