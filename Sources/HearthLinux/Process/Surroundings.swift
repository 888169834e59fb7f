import CLinux

/// Checks for resources that the Swift libraries need. If the libraries cannot create a thread, they crash or hang
/// instead of reporting an error. CLinux checks for `/proc` before Swift starts.
package enum Surroundings {
  /// The number of threads that the process must be able to create.
  static let threads = 16

  /// A human-readable sentence about what is missing.
  package struct Missing: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
  }

  /// Must be called before the process creates another thread.
  package static func requireThreads() throws(Missing) {
    let free = hearth_count_free_threads(Int32(threads))
    guard free >= threads else {
      throw Missing(
        description: "hearthd needs \(threads) threads, but the limit allows only \(free). Raise the limit with "
          + "\"ulimit -u\", TasksMax in its unit, or pids.max of its control group.")
    }
  }
}
