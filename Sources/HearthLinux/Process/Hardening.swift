import CLinux
import Glibc

/// The limits that the daemon sets itself before it reads anything.
package enum Hardening {
  /// Forbids core dumps, tracing and new privileges, makes files for the user only, and ignores SIGPIPE, so that a closed
  /// connection is an error and no signal. Must be the first call of the process: later threads and files inherit it.
  package static func apply() throws(SystemCallFailure) {
    guard hearth_forbid_dumps(1) == 0 else { throw SystemCallFailure("setrlimit, prctl") }
    guard hearth_forbid_new_privileges() == 0 else { throw SystemCallFailure("prctl") }
    umask(0o077)
    signal(SIGPIPE, SIG_IGN)
  }
}
