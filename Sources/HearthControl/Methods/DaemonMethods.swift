package import HearthCore

package struct GetInfo: ParameterlessMethod {
  package static let declaration = MethodDeclaration<DaemonInfo>(
    "daemon.getInfo", "Tell which daemon this is, when it started and where its files are.")

  package init() {}
}

package struct ReloadConfiguration: ParameterlessMethod {
  package static let declaration = MethodDeclaration<Empty>(
    "daemon.reload", "Read the configuration again; a bad one is refused whole and the old one stays.")

  package init() {}
}

package struct DiscoverMethods: ParameterlessMethod {
  package static let declaration = MethodDeclaration<OpenRPCDocument>(
    "rpc.discover", "Describe every method and notification, as an OpenRPC document.")

  package init() {}
}

/// What the daemon says of itself: it stays as it is for one run.
package struct DaemonInfo: TimelessWireValue {
  package typealias Path = (name: String, path: String?)

  package static let fields = Fields<DaemonInfo>(
    .required("name", \.name, .text), .required("version", \.version, .text),
    .required("protocol", \.protocolNumber, .int), .required("pid", \.pid, .int),
    .required("startedAt", \.startedAt, .time), .required("capabilities", \.capabilities, .texts),
    .required("paths", \.paths, .paths), make: Self.init)

  package let name: String
  package let version: String
  package let protocolNumber: Int
  package let pid: Int
  package let startedAt: Timestamp
  package let capabilities: [String]
  /// Names of places (`state`, `socket`, …) and their paths; nil where there is none.
  package let paths: [Path]

  package init(
    name: String = "hearthd", version: String = HearthVersion.text, protocolNumber: Int = HearthVersion.protocolNumber,
    pid: Int, startedAt: Timestamp, capabilities: [String] = ["sessions", "outbox", "events"], paths: [Path]
  ) {
    self.name = name
    self.version = version
    self.protocolNumber = protocolNumber
    self.pid = pid
    self.startedAt = startedAt
    self.capabilities = capabilities
    self.paths = paths
  }

  /// Nil where there is no such place.
  package func path(_ name: String) -> String? { paths.first { $0.name == name }?.path }
}

extension WireType<[DaemonInfo.Path]> {
  fileprivate static var paths: WireType {
    WireType(
      "must be an object of strings", .dictionary(of: .any(of: .type("string"), .type("null")))
    ) { json in
      json.object?.members.map { ($0.key, $0.value.string) }
    } write: { paths in
      .object(JSONObject(paths.map { JSONObject.Member(key: $0.name, value: JSON($0.path)) }))
    }
  }
}
