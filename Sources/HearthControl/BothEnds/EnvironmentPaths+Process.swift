import Glibc

extension EnvironmentPaths {
  package static var ofThisProcess: Self {
    Self(workingDirectory: workingDirectory) { name in getenv(name).map { String(cString: $0) } }
  }

  private static var workingDirectory: String {
    guard let folder = getcwd(nil, 0) else { return "." }
    defer { free(folder) }
    return String(cString: folder)
  }

  /// A relative path begins at the working directory.
  package static func absolute(_ path: String) -> String { absolute(path, from: workingDirectory) }
}
