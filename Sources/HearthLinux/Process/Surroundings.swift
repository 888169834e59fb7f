import CLinux
import Glibc

/// What the process cannot do without, and the libraries under it take for granted: where a thread cannot be made they end
/// the process, or wait for ever, and without `/proc` not even the command line is read.
package enum Surroundings {
  /// More threads than are there at the busiest.
  static let threads = 16

  /// What is missing, as a sentence for people.
  package struct Missing: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
  }

  /// To be called before the command line is read.
  package static func requireProc() throws(Missing) {
    guard access("/proc/self/cmdline", F_OK) == 0 else {
      throw Missing(
        description: "hearthd needs /proc, which is not mounted here: mount it, with \"mount -t proc proc /proc\".")
    }
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
