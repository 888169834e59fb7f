import FoundationEssentials
import TestSupport

extension TemporaryFolder {
  /// Writes a file under the folder and answers its path.
  func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
    let file = path + "/" + name
    let folder = URL(filePath: file).deletingLastPathComponent().path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(filePath: file))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    return file
  }

  func mode(of path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }
}
