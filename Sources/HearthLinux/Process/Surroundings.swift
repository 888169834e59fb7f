import CLinux

/// What the process cannot do without, and the libraries under it take for granted: where a thread cannot be made they end
/// the process, or wait for ever. (CLinux sees to `/proc` before Swift starts.)
package enum Surroundings {
  /// More threads than are there at the busiest.
  static let threads = 16

  /// Tells people in a sentence what is missing.
  package struct Missing: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
  }

  /// To be called before there is any other thread.
  package static func requireThreads() throws(Missing) {
    let free = hearth_count_free_threads(Int32(threads))
    guard free >= threads else {
      throw Missing(
        description: "hearthd needs \(threads) threads and may have only \(free): raise the limit, with \"ulimit -u\", "
          + "with TasksMax in its unit, or pids.max of its control group.")
    }
  }
}
