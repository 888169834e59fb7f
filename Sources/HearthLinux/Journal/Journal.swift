import CSystemd
import Glibc

/// Writes to the systemd journal.
package enum Journal {
  /// Returns whether standard error is connected to the journal (systemd.exec(5), `$JOURNAL_STREAM`).
  package static func isStandardError() -> Bool {
    guard let stream = getenv("JOURNAL_STREAM") else { return false }
    return isJournal(STDERR_FILENO, stream: String(cString: stream))
  }

  /// `stream` contains the device and inode numbers of the journal's stream, such as `8:12345`.
  static func isJournal(_ descriptor: Int32, stream: String) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return false }
    return stream == "\(status.st_dev):\(status.st_ino)"
  }

  /// Sends one record and ignores failures (sd_journal_sendv(3)).
  static func send(_ fields: [(name: String, value: String)]) {
    var bytes: [UInt8] = []
    let ends = fields.map { field in
      bytes.append(contentsOf: "\(field.name)=\(field.value)".utf8)
      return bytes.count
    }
    bytes.withUnsafeMutableBytes { buffer in
      var start = 0
      let vectors = ends.map { end in
        defer { start = end }
        return iovec(iov_base: buffer.baseAddress?.advanced(by: start), iov_len: end - start)
      }
      sd_journal_sendv(vectors, Int32(vectors.count))
    }
  }
}
