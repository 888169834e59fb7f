import HearthControl
package import HearthCore
package import Logging

/// metrics.json: what is counted over restarts, without secrets.
package struct FileMetricsStore: MetricsStore {
  private static let sizeLimit = 16 << 20
  private static let version = 1

  private let file: AtomicFile
  private let files: any FileSystem
  private let clock: any Clock
  private let logger: Logger

  package init(path: String, files: any FileSystem, clock: any Clock, logger: Logger) {
    file = AtomicFile(path: path, files: files)
    self.files = files
    self.clock = clock
    self.logger = logger
  }

  package func keep(_ families: [MetricFamily]) async throws(AccessFailure) {
    let document: JSON = ["version": JSON(Self.version), "metrics": .array(families.map(\.json))]
    do throws(FileError) {
      try await file.replace(with: Array("\(document)\n".utf8))
    } catch {
      throw AccessFailure(error, at: file.path)
    }
  }

  package func recall() async throws(AccessFailure) -> [MetricFamily] {
    let document: JSON?
    do throws(FileError) {
      let bytes = try await files.read(file.path, limit: Self.sizeLimit, followsLink: false).bytes
      document = try? JSON(parsing: bytes)
    } catch .absent {
      return []
    } catch {
      throw AccessFailure(error, at: file.path)
    }
    if let version = document?["version"]?.int, version > Self.version {
      throw AccessFailure(.storageError, detail: "\(file.path) was written by a newer version of Hearth")
    }
    let families = document?["metrics"]?.array?.map(MetricFamily.init(json:))
    if let families, !families.contains(nil) { return families.compactMap(\.self) }
    do throws(FileError) {
      let newPath = try await files.setAside(file.path, as: "corrupt", at: clock.now())
      logger.warning("metrics.json cannot be understood and was moved to \(newPath); what it counts begins anew.")
      return []
    } catch {
      throw AccessFailure(error, at: file.path)
    }
  }
}
