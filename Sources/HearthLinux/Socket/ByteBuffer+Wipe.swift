import Glibc
import NIOCore

extension ByteBuffer {
  /// Overwrites the readable bytes in place. Channels reuse their read buffers as long as they are open, and a line can
  /// contain a token or a passphrase. No other code may use the bytes afterwards.
  func wipe() {
    withUnsafeReadableBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      memset(UnsafeMutableRawPointer(mutating: start), 0, bytes.count)
    }
  }
}
