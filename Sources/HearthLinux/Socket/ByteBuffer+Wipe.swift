import Glibc
import NIOCore

extension ByteBuffer {
  /// Overwrites the readable bytes in place. A channel keeps its read buffers for as long as it is open, and a line may
  /// contain a token or a passphrase. Nobody else may use the bytes any more.
  func wipe() {
    withUnsafeReadableBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      memset(UnsafeMutableRawPointer(mutating: start), 0, bytes.count)
    }
  }
}
