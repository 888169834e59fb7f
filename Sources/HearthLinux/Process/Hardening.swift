import CLinux
import Glibc

/// Restricts what the daemon can do, before it reads anything.
package enum Hardening {
  /// Forbids core dumps, tracing and new privileges, makes new files private to the user, and ignores SIGPIPE, so that
  /// writing to a closed connection returns an error instead of killing the process. Must be the first call in the
  /// process, because later threads and files inherit these settings.
  package static func apply() throws(SystemCallFailure) {
    guard hearth_forbid_dumps(1) == 0 else { throw SystemCallFailure("setrlimit, prctl") }
    guard hearth_forbid_new_privileges() == 0 else { throw SystemCallFailure("prctl") }
    umask(0o077)
    signal(SIGPIPE, SIG_IGN)
  }
}
