import Glibc
import HearthCore

/// The body of a request, read piece by piece. If the API needs the body again, it can be read from the start, unless
/// it is a stream that has been read beyond the buffer.
final class RequestBody {
  private enum Source {
    case bytes([UInt8])
    /// `count` bytes of a file, starting at `start`.
    case file(start: off_t, count: Int)
    /// A source that can be read only once, with its first bytes and its name for messages.
    case stream(beginning: [UInt8], name: String)
  }

  /// The number of bytes to buffer from a stream, so that a short body can be sent again. A body that fits in the
  /// buffer is sent with its length, which some servers require (RFC 9110, section 15.5.12).
  static let keptBeginning = 1 << 20
  private static let pieceSize = 64 << 10

  private let source: Source
  private let descriptor: Int32
  /// The number of bytes that have been read from the stream.
  private var streamed = 0

  init(_ bytes: [UInt8]) { (source, descriptor) = (.bytes(bytes), -1) }

  /// Opens a file, or standard input for `-`.
  init(path: String) throws {
    let isInput = path == "-"
    descriptor = isInput ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
    let name = isInput ? "standard input" : path
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0 else { throw Self.unreadable(name) }
    let start = lseek(descriptor, 0, SEEK_CUR)
    // Treat files without a length as streams, such as those that the kernel generates in /proc.
    if status.st_mode & S_IFMT == S_IFREG, start >= 0, status.st_size > start {
      source = .file(start: start, count: Int(status.st_size - start))
      return
    }
    var beginning: [UInt8] = []
    while beginning.count < Self.keptBeginning {
      let piece = try Self.read(descriptor, name)
      if piece.isEmpty {
        source = .bytes(beginning)
        return
      }
      beginning += piece
    }
    source = .stream(beginning: beginning, name: name)
    streamed = beginning.count
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  var upload: APIRequest.Upload {
    switch source {
    case .bytes(let bytes): .sized(bytes.count)
    case .file(_, let count): .sized(count)
    case .stream: .chunked
    }
  }

  /// Returns the whole body, for requests that are not streamed.
  func whole() throws -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      let piece = try piece(at: bytes.count)
      if piece.isEmpty { return bytes }
      bytes += piece
    }
  }

  /// Returns the piece at `offset`. The piece is empty at the end of the body.
  func piece(at offset: Int) throws -> [UInt8] {
    switch source {
    case .bytes(let bytes): return Array(bytes.dropFirst(offset).prefix(Self.pieceSize))
    case .file(let start, let count):
      let wanted = min(count - offset, Self.pieceSize)
      let piece = try wanted == 0 ? [] : read(wanted, at: start + off_t(offset))
      guard wanted == 0 || !piece.isEmpty else {
        throw CommandFailure(.failed, "The file became shorter while it was being sent, so the request was cancelled.")
      }
      return piece
    case .stream(let beginning, let name):
      // Send the buffer again only if the stream has not been read beyond the buffer.
      if offset < beginning.count, streamed == beginning.count {
        return Array(beginning.dropFirst(offset).prefix(Self.pieceSize))
      }
      guard offset == streamed else {
        throw CommandFailure(
          .later,
          "The body must be sent again, for example after a token refresh, but \(name) can be read only once. Run the "
            + "command again, or pass the body in a file.")
      }
      let piece = try Self.read(descriptor, name)
      streamed += piece.count
      return piece
    }
  }

  private func read(_ count: Int, at place: off_t) throws -> [UInt8] {
    var failure: Int32 = EINTR
    var piece: [UInt8] = []
    while failure == EINTR {
      failure = 0
      piece = [UInt8](unsafeUninitializedCapacity: count) { buffer, count in
        let result = pread(descriptor, buffer.baseAddress, buffer.count, place)
        failure = result < 0 ? errno : 0
        count = max(result, 0)
      }
    }
    errno = failure
    if failure != 0 { throw Self.unreadable("The body") }
    return piece
  }

  /// Reads the next bytes. Returns an empty array at end of file.
  private static func read(_ descriptor: Int32, _ name: String) throws -> [UInt8] {
    guard let piece = WholeFile.piece(descriptor) else { throw unreadable(name) }
    return piece
  }

  private static func unreadable(_ name: String) -> CommandFailure {
    let name = name == "standard input" ? "Standard input" : name
    return CommandFailure(.failed, "\(name) cannot be read: \(reason()).")
  }
}
