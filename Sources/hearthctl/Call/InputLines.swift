import Glibc
import HearthControl

/// Reads a file or standard input line by line.
struct InputLines {
  /// The maximum length of a line in bytes. The daemon's own limit is lower.
  private static let limit = 256 << 20

  /// The number of the last line read, starting at 1.
  private(set) var number = 0
  private let name: String
  private let descriptor: Int32
  private var framer = LineFramer(limit: Self.limit)
  private var isAtEnd = false

  /// Opens a file, or standard input for `-`.
  init(_ file: String) throws {
    name = file == "-" ? "Standard input" : file
    descriptor = file == "-" ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return }
    close()
    throw CommandFailure(.failed, "\(name) is a folder, not a file.")
  }

  func close() {
    if descriptor != STDIN_FILENO { Glibc.close(descriptor) }
  }

  /// Returns the next line, or `nil` at end of file.
  mutating func next() throws -> [UInt8]? {
    while true {
      let line: [UInt8]?
      do {
        line = try framer.next()
      } catch {
        throw CommandFailure(.failed, "Line \(number + 1) is longer than \(Self.limit >> 20) MiB.")
      }
      if let line {
        number += 1
        if descriptor == STDIN_FILENO, Input.isTerminal { try Input.requireWhole(line) }
        return line
      }
      if isAtEnd { return nil }
      guard let chunk = WholeFile.piece(descriptor) else { throw failure }
      isAtEnd = chunk.isEmpty
      // At the end of the file, add the newline that the last line may lack.
      framer.push(isAtEnd ? (framer.isInsideLine ? [UInt8(ascii: "\n")] : []) : chunk)
    }
  }

  private var failure: CommandFailure { CommandFailure(.failed, "\(name) cannot be read: \(reason()).") }
}
