import CLinux
import Glibc

/// What the daemon takes from itself before it reads anything.
package enum Hardening {
  /// No core dumps, not to be traced, files for the user alone, no rights to be gained, a closed connection is an error
  /// and no signal. The first call of the process: later threads and files inherit it.
  package static func apply() throws(SystemCallFailure) {
    guard hearth_forbid_dumps() == 0 else { throw SystemCallFailure("setrlimit, prctl") }
    guard hearth_forbid_new_privileges() == 0 else { throw SystemCallFailure("prctl") }
    umask(0o077)
    signal(SIGPIPE, SIG_IGN)
  }
}
