import CLinux

/// The descriptors of this process: how many it may have open, and what they are shared out to.
package struct Descriptors: Hashable, Sendable {
  /// What the daemon needs beside the connections of its clients: its own, those of requests, those of files.
  static let needed = 40

  /// At most so many are open at once (RLIMIT_NOFILE).
  let limit: Int

  init(limit: Int) {
    self.limit = limit
  }

  /// Raises the limit as far as that is allowed, and keeps some descriptors for the files that must not fail. Before
  /// anything is opened that stays open.
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

  /// How many clients may be connected at once: half of what is left, since what they ask for takes descriptors, too.
  package var connections: Int {
    min(max((limit - Self.needed) / 2, 4), ControlLimits.mostConnections)
  }

  /// How long a connection to an API is kept for the next request. Where there are few descriptors, what has been used up
  /// by requests must be back within a second.
  package var idleTime: Duration { limit < 1024 ? .milliseconds(500) : .seconds(30) }
}
