import CLinux
import Glibc

/// The restrictions that the daemon imposes on itself before it reads anything.
package enum Hardening {
  /// Forbids core dumps, tracing and new privileges, makes new files private to the user, and ignores SIGPIPE, so that
  /// a closed connection causes an error and no signal. Must be the first call of the process, because later threads
  /// and files inherit it.
  package static func apply() throws(SystemCallFailure) {
    guard hearth_forbid_dumps(1) == 0 else { throw SystemCallFailure("setrlimit, prctl") }
    guard hearth_forbid_new_privileges() == 0 else { throw SystemCallFailure("prctl") }
    umask(0o077)
    signal(SIGPIPE, SIG_IGN)
  }
}
