import Glibc

/// The result of a system call, which is made again as often as a signal interrupts it (EINTR, signal(7)).
package func uninterrupted<Result: FixedWidthInteger>(_ call: () throws -> Result) rethrows -> Result {
  while true {
    let result = try call()
    guard result < 0, errno == EINTR else { return result }
  }
}
