import Glibc

/// A failed system call, with a description such as `flock: Resource temporarily unavailable`.
package struct SystemCallFailure: Error, Hashable, CustomStringConvertible {
  package let call: String
  /// The errno value.
  package let code: Int32

  /// `code` defaults to the errno value of the calling thread's last failed call.
  package init(_ call: String, code: Int32 = errno) {
    self.call = call
    self.code = code
  }

  package var description: String { "\(call): \(String(cString: strerror(code)))" }
}
