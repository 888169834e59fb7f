/// The allowed imports. CONTRIBUTING.md has a diagram of them.
enum Walls {
  private static let system: Set = ["Dispatch", "FoundationEssentials", "Glibc", "Synchronization"]
  private static let nio: Set = ["NIOCore", "NIOPosix"]
  private static let rim = system.union(["HearthCore", "HearthControl", "Logging"])

  /// The modules that each target may import, and depend on in the manifest.
  static let allowed: [String: Set<String>] = [
    "CEmptyICU": [],
    "CLinux": [],
    "CPages": [],
    "CWipingAllocator": [],
    "HearthCore": [],
    // Core, because the wire carries its values; Glibc, for a socket's path and its peer.
    "HearthControl": ["HearthCore", "Glibc"],
    // For other programs, to which it adds no package.
    "HearthClient": ["HearthCore", "HearthControl", "HearthThreads", "Glibc", "Synchronization"],
    "HearthHashing": ["HearthCore", "Crypto"],
    "HearthThreads": ["Dispatch", "Glibc", "Synchronization"],
    "HearthRuntime": ["HearthCore", "HearthControl", "Logging", "Synchronization"],
    "HearthLinux": rim.union(nio).union(["CLinux", "CSystemd", "HearthThreads", "NIOHTTP1"]),
    "HearthOAuth": rim.union(nio).union([
      "Crypto", "CryptoExtras", "HearthHashing", "JWTKit", "NIOEmbedded", "NIOExtras", "NIOHTTP1", "NIOHTTPCompression",
      "NIOSOCKS", "NIOSSL", "NIOTLS", "SwiftASN1",
    ]),
    "HearthStorage": rim.union([
      "CLinux", "Crypto", "CryptoExtras", "GRDB", "GRDBSQLite", "HearthHashing", "HearthThreads",
    ]),
    "hearthd": rim.union([
      "ArgumentParser", "CEmptyICU", "HearthHashing", "HearthRuntime", "HearthLinux", "HearthOAuth", "HearthStorage",
      "ServiceLifecycle", "TOMLKit", "UnixSignals",
    ]),
    // hearthctl is not dumpable either.
    "hearthctl": system.union(["ArgumentParser", "CLinux", "CPages", "HearthClient", "HearthControl", "HearthCore"]),
    "hearth-oidc-agent": system.union([
      "ArgumentParser", "CLinux", "CSodium", "HearthClient", "HearthControl", "HearthCore", "HearthLinux",
      "HearthThreads",
    ]),
    "hearth-sandbox": system.union(nio).union([
      "ArgumentParser", "CLinux", "Crypto", "HTTPTypes", "Hummingbird", "Logging", "ServiceLifecycle",
    ]),
  ]

  static func breaches(in files: [SourceFile]) -> [String] {
    files.flatMap { file in
      file.imports.compactMap { number, module in
        allowed[file.target]?.contains(module) == true
          ? nil : "\(file.path):\(number): \(file.target) may not import \(module)"
      }
    }
  }

  static func breaches(in manifest: Manifest) -> [String] {
    manifest.dependencies.sorted { $0.key < $1.key }.flatMap { target, modules in
      modules.filter { allowed[target]?.contains($0) != true }.sorted().map {
        "Package.swift: \(target) may not depend on \($0)"
      }
    }
  }
}

/// The manifest's products and its library and program targets, read as text so that no build is necessary.
struct Manifest {
  /// The modules that each target depends on.
  private(set) var dependencies: [String: Set<String>] = [:]

  init(_ text: String) {
    let product = /static let (?<short>\w+) = product\(name: "(?<module>\w+)"/
    let modules = Dictionary(
      text.matches(of: product).map { (String($0.output.short), String($0.output.module)) }
    ) { first, _ in first }
    let target = /(?:library|program|secretHoldingProgram)\(\s*"(?<name>[\w-]+)"(?:,\s*\[(?<dependencies>[^\]]*)\])?/
    for match in text.matches(of: target) {
      let names = (match.output.dependencies ?? "").split { $0 == "," || $0.isWhitespace }
      dependencies[String(match.output.name)] = Set(
        names.map { name in
          name.hasPrefix(".") ? modules[String(name.dropFirst())] ?? String(name) : String(name.filter { $0 != "\"" })
        })
    }
  }
}
