package import Glibc

/// The process at the other end of a Unix socket: `struct ucred`, which SO_PEERCRED reports (unix(7)).
///
/// Of a server they are those of the process that began to listen. Client and server serve their own user only.
package struct PeerCredentials: Sendable, CustomStringConvertible {
  package let process: pid_t
  package let user: uid_t
  package let group: gid_t

  package init(process: pid_t, user: uid_t, group: gid_t) {
    (self.process, self.user, self.group) = (process, user, group)
  }

  package var description: String { "user \(user) (pid \(process))" }
}
