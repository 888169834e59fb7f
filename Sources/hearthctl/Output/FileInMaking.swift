import Glibc

/// A file, readable only by its owner, that appears at its path only once it is complete and on disk.
struct FileInMaking {
  private let path: String
  private let descriptor: Int32

  /// Replaces the file with what `body` writes. If it throws, the old file stays.
  static func write<Result>(_ path: String, _ body: (FileInMaking) throws -> Result) throws -> Result {
    // With an unused name and mode 0600 (mkstemp(3)).
    var name = Array("\(path).XXXXXX".utf8CString)
    let file = FileInMaking(path: path, descriptor: mkstemp(&name))
    guard file.descriptor >= 0 else { throw file.failure }
    defer { close(file.descriptor) }
    do {
      let result = try body(file)
      guard fsync(file.descriptor) == 0, rename(name, path) == 0 else { throw file.failure }
      return result
    } catch {
      unlink(name)
      throw error
    }
  }

  func append(_ bytes: [UInt8]) throws {
    guard WholeFile.write(bytes, to: descriptor) else { throw failure }
  }

  private var failure: CommandFailure { CommandFailure(.failed, "\(path) cannot be written: \(reason()).") }
}
