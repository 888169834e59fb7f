import Glibc
import NIOCore

extension ByteBuffer {
  /// Overwrites what was read, in place. A channel keeps the buffers that it reads into for as long as it is open, and a
  /// line may hold a token or a passphrase. Nobody else may use the bytes any more.
  func wipe() {
    withUnsafeReadableBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      memset(UnsafeMutableRawPointer(mutating: start), 0, bytes.count)
    }
  }
}
