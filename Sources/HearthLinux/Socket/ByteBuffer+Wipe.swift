import Glibc
import NIOCore

extension ByteBuffer {
  /// Overwrites the readable bytes in place. An open channel keeps its read buffer, so a token or a passphrase in a
  /// line would otherwise stay in memory. No other code may use the bytes afterwards.
  func wipe() {
    withUnsafeReadableBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      memset(UnsafeMutableRawPointer(mutating: start), 0, bytes.count)
    }
  }
}
