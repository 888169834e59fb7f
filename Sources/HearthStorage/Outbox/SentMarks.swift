internal import Glibc
internal import HearthCore

/// A file next to the database that records, for each claim, the last item that may have been sent, and when.
///
/// The marks are written without fsync, so they survive a crash of the process but not a power loss. Marks from another
/// boot are therefore ignored. Not safe for concurrent use.
struct SentMarks: ~Copyable {
  /// The last item in a claim that may have been sent.
  struct Mark {
    fileprivate static let size = 24

    fileprivate var epoch: Int64
    fileprivate(set) var position: Int64
    /// The time from the claim to the request, in milliseconds.
    fileprivate var delayMilliseconds: Int64

    var delay: Duration { .milliseconds(delayMilliseconds) }
  }

  /// The size of the header in bytes. The header contains the format's name and the boot id.
  private static let headerSize = 64
  private static let format = "hearth-sent-2 "
  /// The initial number of slots, and the number of slots by which the file grows.
  private static let slotsAtOnce = 4096

  private let descriptor: Int32
  private let header: [UInt8]
  private(set) var slots = 0
  /// Whether the file is from this boot, so that marks can be written.
  private(set) var isCurrent: Bool

  /// Opens or creates the file, and allocates slots if the disk has room. Marks with another `bootID` are ignored.
  init(_ path: String, bootID: String) throws {
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      let reason = String(cString: strerror(errno))
      throw OutboxStoreFailure.unavailable("Cannot open the outbox file \(path): \(reason).")
    }
    let text = Array((Self.format + bootID).utf8.prefix(Self.headerSize))
    let header = text + Array(repeating: 0, count: Self.headerSize - text.count)
    var found = [UInt8](repeating: 0, count: Self.headerSize)
    let count = pread(descriptor, &found, found.count, 0)
    self.descriptor = descriptor
    self.header = header
    isCurrent = !bootID.isEmpty && count == found.count && found == header
    _ = grow()
  }

  deinit {
    close(descriptor)
  }

  /// Returns the id of the current boot, or an empty string if the id cannot be read, in which case all marks are
  /// ignored.
  static func bootID() -> String {
    let file = Glibc.open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: headerSize)
    let count = Glibc.read(file, &bytes, bytes.count)
    return count > 0 ? String(decoding: bytes.prefix(count).filter { $0 > UInt8(ascii: " ") }, as: UTF8.self) : ""
  }

  /// Allocates more slots. Returns false if this fails, for example because the disk is full.
  mutating func grow() -> Bool {
    let size = Self.headerSize + (slots + Self.slotsAtOnce) * Mark.size
    guard posix_fallocate(descriptor, 0, off_t(size)) == 0 else { return false }
    slots += Self.slotsAtOnce
    return true
  }

  /// Returns the mark of each claim, or `nil` if the marks are from another boot or unreadable.
  func read() -> [Int64: Mark]? {
    var status = stat()
    guard isCurrent, fstat(descriptor, &status) == 0 else { return nil }
    let count = max(Int(status.st_size) - Self.headerSize, 0) / Mark.size
    let marks = [Mark](unsafeUninitializedCapacity: count) { buffer, initialized in
      let bytes = pread(descriptor, buffer.baseAddress, count * Mark.size, off_t(Self.headerSize))
      initialized = max(bytes, 0) / Mark.size
    }
    guard marks.count == count else { return nil }
    var last: [Int64: Mark] = [:]
    for mark in marks where mark.epoch > 0 && mark.position > last[mark.epoch]?.position ?? 0 {
      last[mark.epoch] = mark
    }
    return last
  }

  /// Marks the file as belonging to this boot. Call this only once no claims from another boot are left.
  mutating func begin() {
    isCurrent = isCurrent || header.count == pwrite(descriptor, header, header.count, 0)
  }

  /// Records that the item at `position` may have been sent, `delay` after the claim.
  func write(_ position: Int64, of epoch: Int64, after delay: Duration, in slot: Int) throws(OutboxStoreFailure) {
    guard isCurrent else {
      throw .unavailable("Sending is paused because Hearth cannot record which items it sends.")
    }
    var mark = Mark(epoch: epoch, position: position, delayMilliseconds: delay.wholeMilliseconds)
    guard pwrite(descriptor, &mark, Mark.size, off_t(Self.headerSize + slot * Mark.size)) == Mark.size else {
      throw .unavailable(
        "Sending is paused because Hearth cannot record which items it sends: \(String(cString: strerror(errno))).")
    }
  }
}
