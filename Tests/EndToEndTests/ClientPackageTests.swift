import Glibc
import HearthControl
import TestSupport
import Testing

@Suite("HearthClient in another package")
struct ClientPackageTests {
  @Test("whoever takes it alone fetches no other package")
  func alone() async throws {
    try await TestEnvironment.run { environment in
      let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
      let (folder, answer) = (environment.folder + "/other", environment.folder + "/dependencies.json")
      for part in ["", "/Sources", "/Sources/other"] { try Files.makeFolder(folder + part) }
      try Files.write("import HearthClient", to: folder + "/Sources/other/other.swift")
      try Files.write(
        """
        // swift-tools-version: 6.2
        import PackageDescription
        let package = Package(
          name: "other", dependencies: [.package(name: "hearth", path: "\(root)", traits: [])],
          targets: [.target(name: "other", dependencies: [.product(name: "HearthClient", package: "hearth")])])
        """, to: folder + "/Package.swift")
      let variables = ["PATH", "HOME"].map { "\($0)=\(getenv($0).map { String(cString: $0) } ?? "")" }
      let script = #"cd "$1" && swift package show-dependencies --format json --output-path "$2" > /dev/null 2>&1"#
      try Command.run(["/bin/sh", "-c", script, "sh", folder, answer], environment: variables)
      let hearth = try JSON(parsing: Files.text(answer))["dependencies"]?.array
      #expect(hearth?.count == 1 && hearth?.first?["dependencies"]?.array?.isEmpty == true)
      #expect(Files.names(in: folder + "/.build/checkouts").isEmpty)
    }
  }
}
