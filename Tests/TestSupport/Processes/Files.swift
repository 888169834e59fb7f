package import Glibc

/// A failed system call of a test.
package struct CallFailure: Error, CustomStringConvertible {
  package let description: String

  package init(_ call: String) {
    description = "\(call): \(String(cString: strerror(errno)))"
  }
}

/// Small files for tests, read and written as a whole, by path.
package enum Files {
  /// The text of a file, or nil if it does not exist or cannot be read.
  package static func read(_ path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    while true {
      let chunk = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
        count = max(0, Glibc.read(descriptor, buffer.baseAddress, buffer.count))
      }
      if chunk.isEmpty { return bytes }
      bytes += chunk
    }
  }

  package static func text(_ path: String) -> String { String(decoding: read(path) ?? [], as: UTF8.self) }

  /// Writes in place. A new file gets the mode 0600.
  package static func write(_ text: String, to path: String, owner: uid_t = getuid()) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw CallFailure("open \(path)") }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else { throw CallFailure("write \(path)") }
    guard fchown(descriptor, owner, owner == getuid() ? getgid() : owner) == 0 else {
      throw CallFailure("chown \(path)")
    }
  }

  /// Copies a file. If it does not exist, removes `target`.
  package static func copy(_ path: String, to target: String) throws {
    unlink(target)
    guard let bytes = read(path) else { return }
    let descriptor = open(target, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw CallFailure("open \(target)") }
    defer { close(descriptor) }
    guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else { throw CallFailure("write \(target)") }
  }

  /// Replaces `path` with a new file, as most programs save theirs.
  package static func replace(_ path: String, with text: String) throws {
    try write(text, to: path + ".new")
    guard rename(path + ".new", path) == 0 else { throw CallFailure("rename \(path)") }
  }

  package static func makeFolder(_ path: String, owner: uid_t = getuid()) throws {
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw CallFailure("mkdir \(path)") }
    guard chown(path, owner, owner == getuid() ? getgid() : owner) == 0 else { throw CallFailure("chown \(path)") }
  }

  package static func setMode(_ path: String, _ mode: mode_t) throws {
    guard chmod(path, mode) == 0 else { throw CallFailure("chmod \(path)") }
  }

  package static func link(_ path: String, to target: String) throws {
    guard symlink(target, path) == 0 else { throw CallFailure("symlink \(path)") }
  }

  package static func move(_ path: String, to other: String) throws {
    guard rename(path, other) == 0 else { throw CallFailure("rename \(path)") }
  }

  package static func remove(_ path: String) throws {
    guard unlink(path) == 0 else { throw CallFailure("unlink \(path)") }
  }

  /// The permission bits, or nil if there is no file.
  package static func mode(_ path: String) -> mode_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
  }

  package static func owner(_ path: String) -> uid_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_uid : nil
  }

  package static func exists(_ path: String) -> Bool { mode(path) != nil }

  package static func names(in folder: String) -> [String] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// Every regular file in a folder and below it.
  package static func tree(_ folder: String) -> [String] {
    names(in: folder).flatMap { name in
      let path = "\(folder)/\(name)"
      var status = stat()
      guard lstat(path, &status) == 0 else { return [String]() }
      switch status.st_mode & S_IFMT {
      case S_IFDIR: return tree(path)
      case S_IFREG: return [path]
      default: return []
      }
    }
  }

  package static func removeTree(_ folder: String) {
    chmod(folder, 0o700)
    for name in names(in: folder) {
      let path = "\(folder)/\(name)"
      if unlink(path) != 0 { removeTree(path) }
    }
    rmdir(folder)
  }
}
