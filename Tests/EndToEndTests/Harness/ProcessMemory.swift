import Glibc
import TestSupport

/// The writable memory of a running process, including freed blocks and stacks (proc_pid_mem(5)).
struct ProcessMemory {
  private var regions: [[UInt8]] = []

  /// Only root may read a process that is not dumpable.
  init(of process: pid_t) throws {
    let descriptor = open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw CallFailure("open /proc/\(process)/mem") }
    defer { close(descriptor) }
    for line in Files.text("/proc/\(process)/maps").split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.count > 1, fields[1].hasPrefix("rw") else { continue }
      let bounds = fields[0].split(separator: "-").compactMap { Int($0, radix: 16) }
      guard bounds.count == 2 else { continue }
      let bytes = [UInt8](unsafeUninitializedCapacity: bounds[1] - bounds[0]) { buffer, count in
        // A region that has disappeared meanwhile contains nothing.
        count = max(uninterrupted { pread(descriptor, buffer.baseAddress, buffer.count, bounds[0]) }, 0)
      }
      regions.append(bytes)
    }
  }

  /// The number of occurrences of any of these.
  func count(of patterns: [[UInt8]]) -> Int {
    patterns.reduce(0) { sum, pattern in
      sum + regions.reduce(0) { $0 + Self.count(of: pattern, in: $1) }
    }
  }

  /// The number of occurrences in the bytes.
  static func count(of pattern: [UInt8], in bytes: [UInt8]) -> Int {
    guard let first = pattern.first else { return 0 }
    return bytes.withUnsafeBytes { memory in
      guard var position = memory.baseAddress else { return 0 }
      let end = position + memory.count
      var count = 0
      while end - position >= pattern.count,
        let found = memchr(position, Int32(first), end - position - pattern.count + 1)
      {
        if memcmp(found, pattern, pattern.count) == 0 { count += 1 }
        position = UnsafeRawPointer(found) + 1
      }
      return count
    }
  }
}

/// A secret in the forms that it may have in memory.
struct SecretTraces {
  /// As it is, and in Base64 at each of the three possible offsets.
  let copies: [[UInt8]]
  /// Its middle and its end, as in a buffer that is too short for all of it, such as a hash's block or a register.
  let pieces: [[UInt8]]

  init(_ secrets: [String]) {
    copies = secrets.flatMap { secret in
      [Array(secret.utf8)] + (0..<3).map { Self.base64(secret, after: $0) }
    }
    pieces = secrets.flatMap { secret in
      let bytes = Array(secret.utf8)
      return [Array(bytes[(bytes.count / 2 - 8)...].prefix(16)), Array(bytes.suffix(16))]
    }
  }

  /// The part of its Base64 form, `offset` bytes after a start, that does not depend on the bytes around it.
  private static func base64(_ secret: String, after offset: Int) -> [UInt8] {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    let bytes = Array(secret.utf8).dropFirst((3 - offset) % 3)
    return stride(from: bytes.startIndex, to: bytes.endIndex - 2, by: 3).flatMap { start in
      let group = Int(bytes[start]) << 16 | Int(bytes[start + 1]) << 8 | Int(bytes[start + 2])
      return [18, 12, 6, 0].map { alphabet[group >> $0 & 63] }
    }
  }
}
