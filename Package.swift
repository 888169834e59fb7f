// swift-tools-version: 6.2
import PackageDescription

/// Whether to build for `make fuzz`, which instruments this package's Swift modules for libFuzzer.
let isFuzzed = Context.environment["HEARTH_FUZZ"] != nil

private let strictness: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .treatAllWarnings(as: .error),
]
let strict = strictness + (isFuzzed ? [.unsafeFlags(["-sanitize=fuzzer"])] : [])

/// The trait that enables all external dependencies, which the programs and the tests need. A package that uses only
/// HearthClient can disable the trait with `traits: []` and then fetches no dependencies.
let programs = "Programs"

extension Target.Dependency {
  private static func product(name: String, package: String) -> Self {
    .product(name: name, package: package, condition: .when(traits: [programs]))
  }

  static let argumentParser = product(name: "ArgumentParser", package: "swift-argument-parser")
  static let crypto = product(name: "Crypto", package: "swift-crypto")
  static let cryptoExtras = product(name: "CryptoExtras", package: "swift-crypto")
  static let grdb = product(name: "GRDB", package: "GRDB.swift")
  static let grdbSQLite = product(name: "GRDBSQLite", package: "GRDB.swift")
  static let hummingbird = product(name: "Hummingbird", package: "hummingbird")
  static let jwtKit = product(name: "JWTKit", package: "jwt-kit")
  static let logging = product(name: "Logging", package: "swift-log")
  static let nio = product(name: "NIOCore", package: "swift-nio")
  static let nioEmbedded = product(name: "NIOEmbedded", package: "swift-nio")
  static let nioExtras = product(name: "NIOExtras", package: "swift-nio-extras")
  static let nioPosix = product(name: "NIOPosix", package: "swift-nio")
  static let nioHTTP1 = product(name: "NIOHTTP1", package: "swift-nio")
  static let nioHTTPCompression = product(name: "NIOHTTPCompression", package: "swift-nio-extras")
  static let nioFoundationEssentials = product(name: "NIOFoundationEssentialsCompat", package: "swift-nio")
  static let nioSOCKS = product(name: "NIOSOCKS", package: "swift-nio-extras")
  static let nioSSL = product(name: "NIOSSL", package: "swift-nio-ssl")
  static let nioTLS = product(name: "NIOTLS", package: "swift-nio")
  static let serviceLifecycle = product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
  static let swiftASN1 = product(name: "SwiftASN1", package: "swift-asn1")
  static let tomlKit = product(name: "TOMLKit", package: "TOMLKit")
  static let unixSignals = product(name: "UnixSignals", package: "swift-service-lifecycle")
  static let x509 = product(name: "X509", package: "swift-certificates")
}

func library(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// A program that holds tokens. It links an allocator that wipes memory. Its symbols are resolved at startup, because
/// lazy binding saves the vector registers on the stack, and the registers may contain part of a token.
func secretHoldingProgram(
  _ name: String, _ dependencies: [Target.Dependency], linkerSettings: [LinkerSetting] = []
) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies + ["CWipingAllocator"], swiftSettings: strict,
    linkerSettings: [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"])] + linkerSettings)
}

/// Links a release build statically, so that it starts faster, because scripts run it in loops. The C library is libc.a
/// from Debian's libc6-dev, which Swift needs anyway. CWipingAllocator and libc.a both define `malloc`, so the linker
/// must accept duplicates. The linker's warnings about functions that need shared libraries, such as getpwuid_r, are
/// harmless: FoundationEssentials, which ArgumentParser needs, refers to these functions, but nothing calls them.
let withoutDynamicLinker = LinkerSetting.unsafeFlags(
  ["-static-executable", "-Xlinker", "-z", "-Xlinker", "muldefs"], .when(configuration: .release))

/// Returns the daemon's target without its entry point, because the fuzzing program has its own.
func withoutEntryPoint(_ program: Target) -> Target {
  .target(
    name: program.name, dependencies: program.dependencies, path: "Sources/\(program.name)", exclude: ["Main.swift"],
    swiftSettings: strict)
}

/// Returns the fuzz targets without their tests, as a regular target that the fuzzing program can import.
func withoutTests(_ target: Target) -> Target {
  .target(
    name: target.name, dependencies: target.dependencies, path: "Tests/\(target.name)",
    exclude: target.exclude + [
      "CallLimitTests.swift", "FuzzTests.swift", "HostileCallTests.swift", "HostileCalls.swift", "WorstInputs.swift",
    ], swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
  .testTarget(name: name, dependencies: dependencies + ["TestSupport"], exclude: exclude, swiftSettings: strict)
}

let package = Package(
  name: "hearth",
  products: [
    .executable(name: "hearthd", targets: ["hearthd"]),
    .executable(name: "hearthctl", targets: ["hearthctl"]),
    .executable(name: "hearth-oidc-agent", targets: ["hearth-oidc-agent"]),
    .executable(name: "hearth-sandbox", targets: ["hearth-sandbox"]),
    .library(name: "HearthClient", targets: ["HearthClient"]),
  ],
  traits: [
    .trait(
      name: programs, description: "The daemon, the command line, the sandbox, and the packages they are built with."),
    .default(enabledTraits: [programs]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
    .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
  ],
  targets: [
    library("HearthCore"),
    library("HearthControl", ["HearthCore"]),
    library("HearthClient", ["HearthCore", "HearthControl", "HearthThreads"]),
    library("HearthHashing", ["HearthCore", .crypto]),
    library("HearthThreads"),
    library("HearthRuntime", ["HearthCore", "HearthControl", .logging]),
    library(
      "HearthLinux",
      [
        "HearthCore", "HearthControl", "HearthThreads", "CSystemd", "CLinux", .logging, .nio, .nioHTTP1,
        .nioPosix,
      ]),
    library(
      "HearthOAuth",
      [
        "HearthCore", "HearthControl", "HearthHashing", .crypto, .cryptoExtras, .jwtKit, .logging, .nio, .nioEmbedded,
        .nioExtras, .nioHTTP1, .nioHTTPCompression, .nioPosix, .nioSOCKS, .nioSSL, .nioTLS, .swiftASN1,
      ]),
    library(
      "HearthStorage",
      [
        "HearthCore", "HearthControl", "HearthHashing", "HearthThreads", "CLinux", .crypto, .cryptoExtras, .grdb,
        .grdbSQLite, .logging,
      ]),
    .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
    .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
    .target(name: "CEmptyICU", cSettings: [.define("HEARTH_RELEASE", .when(configuration: .release))]),
    .target(name: "CLinux"),
    .target(name: "CPages"),
    .target(name: "CWipingAllocator"),
    secretHoldingProgram(
      "hearthd",
      [
        "HearthCore", "HearthControl", "HearthHashing", "HearthRuntime", "HearthLinux", "HearthOAuth", "HearthStorage",
        "CEmptyICU", .argumentParser, .logging, .serviceLifecycle, .tomlKit, .unixSignals,
      ]),
    secretHoldingProgram(
      "hearthctl", ["HearthClient", "HearthControl", "HearthCore", "CLinux", "CPages", .argumentParser],
      linkerSettings: [withoutDynamicLinker]),
    secretHoldingProgram(
      "hearth-oidc-agent",
      [
        "HearthClient", "HearthControl", "HearthCore", "HearthLinux", "HearthThreads", "CLinux", "CSodium",
        .argumentParser,
      ]),
    program("hearth-sandbox", ["CLinux", .argumentParser, .crypto, .hummingbird, .logging, .nio, .serviceLifecycle]),
    .executableTarget(
      name: "hearth-bench",
      dependencies: [
        .argumentParser, "CReferences", "HearthClient", "HearthControl", "HearthCore", "HearthLinux", "HearthStorage",
        .nio, .nioHTTP1, .nioPosix,
      ],
      path: "Benchmarks/HearthBench", swiftSettings: strict),
    // Built without package access, like a program outside this package, so that it can use only the public API.
    .executableTarget(
      name: "hearth-follow", dependencies: ["HearthClient"], path: "etc/examples/hearth-follow", packageAccess: false,
      swiftSettings: strict),
    .target(name: "CReferences", path: "Benchmarks/CReferences", linkerSettings: [.linkedLibrary("sqlite3")]),

    .target(
      name: "TestSupport", dependencies: ["HearthCore", "HearthControl", "HearthThreads", .logging],
      path: "Tests/TestSupport", swiftSettings: strict),
    .target(name: "CDiskFaults", path: "Tests/CDiskFaults", linkerSettings: [.linkedLibrary("sqlite3")]),
    tests("HearthCoreTests", ["HearthCore", "HearthOAuth"]),
    tests("HearthControlTests", ["HearthControl", "HearthCore"], exclude: ["Golden"]),
    tests("HearthClientTests", ["HearthClient", "HearthControl", "HearthCore"]),
    tests("HearthRuntimeTests", ["HearthRuntime", "HearthStorage", .crypto, .grdb, .logging]),
    tests("HearthThreadsTests", ["HearthThreads"]),
    tests("OIDCAgentTests", ["hearth-oidc-agent", "CSodium", "HearthControl", "HearthCore"]),
    tests("HearthLinuxTests", ["HearthClient", "HearthCore", "HearthLinux", .logging]),
    tests(
      "HearthOAuthTests",
      [
        "HearthHashing", "HearthOAuth", .crypto, .cryptoExtras, .nio, .nioEmbedded, .nioHTTP1, .nioPosix, .nioSSL,
        .nioHTTPCompression, .swiftASN1, .x509,
      ]),
    tests(
      "HearthStorageTests",
      [
        "HearthCore", "HearthHashing", "HearthLinux", "HearthStorage", "CDiskFaults", .crypto, .grdb, .logging,
      ],
      exclude: ["Samples"]),
    tests("hearthdTests", ["hearthd", .argumentParser, .logging, .tomlKit]),
    tests(
      "SandboxTests", ["hearth-sandbox", .argumentParser, .crypto, .hummingbird, .logging, .serviceLifecycle]),
    tests(
      "hearthctlTests", ["HearthClient", "HearthControl", "HearthCore", "hearthctl", .argumentParser],
      exclude: ["Golden"]),
    tests(
      "FuzzTargets",
      ["HearthControl", "HearthCore", "HearthOAuth", "HearthRuntime", "HearthStorage", "hearthd", .grdb, .logging],
      exclude: ["Seeds"]),
    tests("ArchitectureTests", []),
    tests(
      "EndToEndTests",
      [
        "HearthClient", "HearthControl", "HearthCore", "hearthd", "hearthctl", "hearth-bench", "hearth-follow",
        "hearth-oidc-agent", "hearth-sandbox", .grdb,
      ],
      exclude: ["Golden"]),
  ]
)

// Only `make docs` needs this plugin, so other builds do not fetch it.
if Context.environment["HEARTH_DOCC"] != nil {
  package.dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"))
}

// HEARTH_TESTS="HearthCoreTests …" builds only the listed suites, which is much faster while you work on one module.
if let wanted = Context.environment["HEARTH_TESTS"]?.split(separator: " ").map(String.init) {
  package.targets.removeAll { $0.type == .test && !wanted.contains($0.name) }
}

if isFuzzed {
  package.products = []
  package.targets = package.targets.map { target in
    switch target.name {
    case "hearthd": withoutEntryPoint(target)
    case "FuzzTargets": withoutTests(target)
    default: target
    }
  }
  package.targets.append(
    .executableTarget(name: "hearth-fuzz", dependencies: ["FuzzTargets"], path: "Tests/Fuzz", swiftSettings: strict))
}
