import Glibc
import HearthCore

extension Configuration {
  /// Loads the configuration from the first file that exists, and returns it with the file's path. If there is no file,
  /// returns the defaults and `nil`. Throws if `--config` names a file that does not exist.
  static func load(from paths: ConfiguredPaths) throws -> (configuration: Configuration, path: String?) {
    for path in paths.configurationOption.map({ [$0] }) ?? paths.configurationFiles {
      guard let text = try text(of: path) else { continue }
      let configuration = try Configuration(
        text: text, file: path, roots: paths.roots, proxies: paths.proxies, state: try? paths.state(),
        ownPlaces: paths.ownPlaces)
      return (configuration, path)
    }
    if let path = paths.configurationOption { throw ConfigurationError("\(path): no such file") }
    return (Configuration(), nil)
  }

  private static let maximumSize = 1 << 20

  /// Reads a file. Returns `nil` if the file does not exist.
  private static func text(of path: String) throws -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw ConfigurationError("\(path): cannot read the file: \(systemError())")
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw ConfigurationError("\(path): cannot read the file: \(systemError())")
    }
    if let reason = distrust(mode: status.st_mode, owner: status.st_uid, user: geteuid()) {
      throw ConfigurationError("\(path): \(reason)")
    }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while bytes.count <= maximumSize {
      let count = read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      // Half a configuration might be valid, but would drop accounts.
      guard count >= 0 else { throw ConfigurationError("\(path): cannot read the file: \(systemError())") }
      if count == 0 { break }
      bytes += chunk[..<count]
    }
    guard bytes.count <= maximumSize else { throw ConfigurationError("\(path): the file is larger than 1 MiB") }
    guard !bytes.hasUTF16Mark else {
      throw ConfigurationError("\(path): the file is UTF-16 text and must be saved as UTF-8")
    }
    guard let text = String(validating: bytes.withoutByteOrderMark, as: UTF8.self) else {
      throw ConfigurationError("\(path): the file is not UTF-8 text")
    }
    return text
  }

  /// Returns the reason why a file must not be trusted, or `nil` if the file may be trusted.
  static func distrust(mode: mode_t, owner: uid_t, user: uid_t) -> String? {
    guard mode & S_IFMT == S_IFREG else { return "not a regular file" }
    guard owner == user || owner == 0 else {
      return "the file belongs to user \(owner), but must belong to you or to root"
    }
    guard mode & (S_IWGRP | S_IWOTH) == 0 else {
      return "other users can write to the file; run \"chmod go-w\" on it"
    }
    return nil
  }
}

func systemError() -> String { String(cString: strerror(errno)) }
