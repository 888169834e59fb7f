import Glibc

/// A new file that appears at its path once it is complete and on disk. Only its owner can read it.
struct FileInMaking {
  private let path: String
  private let descriptor: Int32

  /// Replaces the file with the output of `body`. If `body` throws, the old file is left unchanged.
  static func write<Result>(_ path: String, _ body: (FileInMaking) throws -> Result) throws -> Result {
    // mkstemp(3) chooses an unused name and sets the mode to 0600.
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
