import Glibc

/// A system call that failed, in words for people: `flock: Resource temporarily unavailable`.
package struct SystemCallFailure: Error, Hashable, CustomStringConvertible {
  package let call: String
  /// The errno value.
  package let code: Int32

  /// `code` defaults to errno, which the calling thread's last failed call has set.
  package init(_ call: String, code: Int32 = errno) {
    self.call = call
    self.code = code
  }

  package var description: String { "\(call): \(String(cString: strerror(code)))" }
}
