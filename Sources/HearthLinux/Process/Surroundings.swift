import CLinux

/// Checks what the process and its libraries cannot do without: if they cannot create a thread, they end the process or
/// wait forever. (CLinux checks `/proc` before Swift starts.)
package enum Surroundings {
  /// More than the maximum number of threads at any time.
  static let threads = 16

  /// What is missing, as a sentence for people.
  package struct Missing: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
  }

  /// Must be called before any other thread exists.
  package static func requireThreads() throws(Missing) {
    let free = hearth_count_free_threads(Int32(threads))
    guard free >= threads else {
      throw Missing(
        description: "hearthd needs \(threads) threads and may have only \(free): raise the limit, with \"ulimit -u\", "
          + "with TasksMax in its unit, or pids.max of its control group.")
    }
  }
}
