import TestSupport

/// The initial inputs for fuzzing, and inputs that once broke a target. `Seeds` has a folder of files for each target.
package enum Seeds {
  package static func of(_ target: FuzzTarget) -> [[UInt8]] {
    let folder = "\(root)/\(target.rawValue)"
    return Files.names(in: folder).sorted().compactMap { Files.read("\(folder)/\($0)") }
  }

  private static let root = #filePath.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/Seeds"
}
