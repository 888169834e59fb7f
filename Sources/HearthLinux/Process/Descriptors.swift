import CLinux

/// The limit on open descriptors, and how the daemon divides them.
package struct Descriptors: Hashable, Sendable {
  /// The number of descriptors that the daemon needs for itself, for requests and for files, in addition to its
  /// clients' connections.
  static let needed = 40

  /// Maximum number of open descriptors (RLIMIT_NOFILE).
  let limit: Int

  /// Raises the limit as far as allowed and reserves some descriptors for files that Hearth must always be able to
  /// open. Must be called before the process opens anything that stays open.
  package static func prepare() throws -> Descriptors {
    let limit = hearth_raise_descriptor_limit()
    let free = hearth_count_free_descriptors(Int32(needed))
    guard free >= needed, hearth_keep_spare_descriptors() == 0 else {
      throw MissingResource(
        description: "hearthd needs \(needed) file descriptors, but the limit allows only \(free). Raise the limit "
          + "with \"ulimit -n\", or with LimitNOFILE in its unit.")
    }
    return Descriptors(limit: Int(clamping: limit))
  }

  /// Maximum number of client connections. Half of the descriptors beyond `needed` are left for the files and sockets
  /// that calls open.
  package var connections: Int {
    min(max((limit - Self.needed) / 2, 4), ControlLimits.mostConnections)
  }

  /// How long an idle connection to an API stays open for reuse. If descriptors are scarce, the connection of a
  /// finished request must release its descriptor within a second.
  package var idleTime: Duration { limit < 1024 ? .milliseconds(500) : .seconds(30) }
}
