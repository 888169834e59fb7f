import CLinux
import Glibc

/// Restricts what the daemon can do and checks what it needs, before it reads anything.
package enum Hardening {
  /// Forbids core dumps, tracing and new privileges, makes new files private to the user, and ignores SIGPIPE, so that
  /// writing to a closed connection returns an error instead of killing the process. Must be the first call in the
  /// process, because later threads and files inherit these settings.
  package static func apply() throws {
    guard hearth_forbid_dumps(1) == 0 else { throw SystemCallFailure("setrlimit, prctl") }
    guard hearth_forbid_new_privileges() == 0 else { throw SystemCallFailure("prctl") }
    umask(0o077)
    signal(SIGPIPE, SIG_IGN)
  }

  /// The number of threads that the process must be able to create.
  private static let threads = 16

  /// Must be called before the process creates another thread. If the Swift libraries cannot create a thread, they crash
  /// or hang instead of reporting an error. CLinux checks for `/proc` before Swift starts.
  package static func requireThreads() throws {
    let free = hearth_count_free_threads(Int32(threads))
    guard free >= threads else {
      throw MissingResource(
        description: "hearthd needs \(threads) threads, but the limit allows only \(free). Raise the limit with "
          + "\"ulimit -u\", TasksMax in its unit, or pids.max of its control group.")
    }
  }
}

/// A human-readable sentence about a resource that the process needs and lacks.
package struct MissingResource: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String
}
