import CLinux

/// The descriptors of this process: how many it may have open, and how they are shared.
package struct Descriptors: Hashable, Sendable {
  /// The number that the daemon needs besides the connections of its clients: its own, and those for requests and
  /// files.
  static let needed = 40

  /// The maximum number of open descriptors (RLIMIT_NOFILE).
  let limit: Int

  init(limit: Int) {
    self.limit = limit
  }

  /// Raises the limit as far as allowed, and reserves some descriptors for files that must not fail. Must be called
  /// before anything is opened that stays open.
  package static func prepare() throws(Surroundings.Missing) -> Descriptors {
    let limit = hearth_raise_descriptor_limit()
    let free = hearth_count_free_descriptors(Int32(needed))
    guard free >= needed, hearth_keep_spare_descriptors() == 0 else {
      throw Surroundings.Missing(
        description: "hearthd needs \(needed) file descriptors and may open only \(free): raise the limit, with "
          + "\"ulimit -n\" or with LimitNOFILE in its unit.")
    }
    return Descriptors(limit: Int(clamping: limit))
  }

  /// How many clients may be connected at once: half of the rest, since their calls need descriptors, too.
  package var connections: Int {
    min(max((limit - Self.needed) / 2, 4), ControlLimits.mostConnections)
  }

  /// How long a connection to an API is kept for the next request. If there are few descriptors, those of finished
  /// requests must be free again within a second.
  package var idleTime: Duration { limit < 1024 ? .milliseconds(500) : .seconds(30) }
}
