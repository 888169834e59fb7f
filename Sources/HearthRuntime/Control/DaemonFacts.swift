import HearthControl
package import HearthCore

/// What `daemon.getInfo` tells: it stays as it is for one run of the daemon.
package struct DaemonFacts: Sendable {
  package let version: String
  package let pid: Int
  package let startedAt: Timestamp
  /// Names of places (`state`, `socket`, …) and their paths.
  package let paths: [(name: String, path: String?)]

  package init(version: String, pid: Int, startedAt: Timestamp, paths: [(name: String, path: String?)]) {
    self.version = version
    self.pid = pid
    self.startedAt = startedAt
    self.paths = paths
  }

  static let capabilities: JSON = ["sessions", "outbox", "events"]

  var json: JSON {
    [
      "name": "hearthd", "version": .string(version), "protocol": 1, "pid": JSON(pid),
      "startedAt": .string(startedAt.description), "capabilities": Self.capabilities,
      "paths": .object(JSONObject(paths.map { JSONObject.Member(key: $0.name, value: JSON($0.path)) })),
    ]
  }
}
