import HearthControl
package import HearthCore
package import Logging

/// The file metrics.json, which stores the counters that continue across restarts. It contains no secrets.
package struct FileMetricsStore: MetricsStore {
  private static let sizeLimit = 16 << 20
  private static let version = 1

  private let file: AtomicFile
  private let clock: any Clock
  private let logger: Logger

  package init(path: String, files: any FileSystem, clock: any Clock, logger: Logger) {
    file = AtomicFile(path: path, files: files)
    self.clock = clock
    self.logger = logger
  }

  package func keep(_ families: [MetricFamily]) async throws {
    let document: JSON = ["version": JSON(Self.version), "metrics": .array(families.map(\.json))]
    try await accessing(file.path, await file.replace(with: Array("\(document)\n".utf8)))
  }

  package func recall() async throws -> [MetricFamily] {
    guard let contents = try await file.read(limit: Self.sizeLimit) else { return [] }
    let document = try? JSON(parsing: contents.bytes)
    if let version = document?["version"]?.int, version > Self.version {
      throw AccessFailure(.storageError, detail: "\(file.path) was written by a newer version of Hearth")
    }
    let families = document?["metrics"]?.array?.map(MetricFamily.init(json:))
    if let families, !families.contains(nil) { return families.compactMap(\.self) }
    let newPath = try await file.setAside(as: "corrupt", at: clock.now())
    logger.warning("metrics.json is unreadable and was moved to \(newPath). Its counters restart at zero.")
    return []
  }
}
