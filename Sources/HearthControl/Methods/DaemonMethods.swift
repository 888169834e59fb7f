package import HearthCore

package struct GetInfo: ParameterlessMethod {
  package static let declaration = MethodDeclaration<DaemonInfo>(
    "daemon.getInfo", "Say which daemon this is, since when it runs and where its files are.")

  package init() {}
}

package struct ReloadConfiguration: ParameterlessMethod {
  package static let declaration = MethodDeclaration<Empty>(
    "daemon.reload", "Read the configuration again; a bad one is refused whole and the old one stays.")

  package init() {}
}

/// What the daemon says of itself: it stays as it is for one run.
package struct DaemonInfo: TimelessWireValue {
  package let version: String
  package let protocolNumber: Int
  package let pid: Int
  package let startedAt: Timestamp
  package let capabilities: [String]
  /// Names of places (`state`, `socket`, …) and their paths; nil where there is none.
  package let paths: [(name: String, path: String?)]

  package init(
    version: String = HearthVersion.text, protocolNumber: Int = HearthVersion.protocolNumber, pid: Int,
    startedAt: Timestamp, capabilities: [String] = ["sessions", "outbox", "events"],
    paths: [(name: String, path: String?)]
  ) {
    self.version = version
    self.protocolNumber = protocolNumber
    self.pid = pid
    self.startedAt = startedAt
    self.capabilities = capabilities
    self.paths = paths
  }

  /// Nil where there is no such place.
  package func path(_ name: String) -> String? { paths.first { $0.name == name }?.path }

  package var json: JSON {
    [
      "name": "hearthd", "version": .string(version), "protocol": JSON(protocolNumber), "pid": JSON(pid),
      "startedAt": JSON(startedAt), "capabilities": .array(capabilities.map(JSON.string)),
      "paths": .object(JSONObject(paths.map { JSONObject.Member(key: $0.name, value: JSON($0.path)) })),
    ]
  }

  package init?(json: JSON) {
    guard let version = json["version"]?.string, let protocolNumber = json["protocol"]?.int,
      let pid = json["pid"]?.int, let startedAt = json["startedAt"]?.timestamp,
      let paths = json["paths"]?.object
    else { return nil }
    self.init(
      version: version, protocolNumber: protocolNumber, pid: pid, startedAt: startedAt,
      capabilities: (json["capabilities"]?.array ?? []).compactMap(\.string),
      paths: paths.members.map { ($0.key, $0.value.string) })
  }
}
