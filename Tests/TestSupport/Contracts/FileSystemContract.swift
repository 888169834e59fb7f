package import HearthCore

/// A file system, an empty folder in it, and what a port for files cannot do.
package struct FileSystemBench: Sendable {
  let files: any FileSystem
  let folder: String
  /// Creates a link at a path.
  let putLink: @Sendable (_ target: String, _ path: String) -> Void

  package init(
    _ files: any FileSystem, folder: String, putLink: @escaping @Sendable (_ target: String, _ path: String) -> Void
  ) {
    self.files = files
    self.folder = folder
    self.putLink = putLink
  }

  fileprivate var path: String { folder + "/file" }

  fileprivate func put(_ bytes: [UInt8], at path: String) async throws {
    try await files.createFile(path)
    try await files.write(bytes, to: path)
  }

  fileprivate func bytes(at path: String) async throws -> [UInt8] {
    try await files.read(path, limit: 1 << 20, followsLink: false).bytes
  }

  /// Every step with one path, by its name.
  fileprivate func steps(on path: String) -> [(name: String, step: () async throws(FileError) -> Void)] {
    let files = files
    return [
      ("read", { () throws(FileError) in _ = try await files.read(path, limit: 9, followsLink: false) }),
      ("status", { () throws(FileError) in _ = try await files.status(path) }),
      ("target", { () throws(FileError) in _ = try await files.target(ofLink: path) }),
      ("names", { () throws(FileError) in _ = try await files.names(in: path) }),
      ("createFile", { () throws(FileError) in try await files.createFile(path) }),
      ("allocate", { () throws(FileError) in try await files.allocate(path, bytes: 9) }),
      ("write", { () throws(FileError) in try await files.write([], to: path) }),
      ("syncFile", { () throws(FileError) in try await files.syncFile(path) }),
      ("rename", { () throws(FileError) in try await files.rename(path, to: path + "-2") }),
      ("syncFolder", { () throws(FileError) in try await files.syncFolder(path) }),
      ("removeFile", { () throws(FileError) in try await files.removeFile(path) }),
      ("createFolder", { () throws(FileError) in try await files.createFolder(path) }),
      ("setMode", { () throws(FileError) in try await files.setMode(path, to: 0o600) }),
    ]
  }

  /// Takes each step on a path and expects this error. `but` has the steps that fail with another one.
  fileprivate func expectEachStep(
    on path: String, throws error: FileError, but others: [String: FileError] = [:], only names: Set<String>? = nil
  ) async throws {
    for (name, step) in steps(on: path) where names?.contains(name) != false {
      let expected = others[name] ?? error
      do throws(FileError) {
        try await step()
      } catch {
        try expect(error == expected, "\(name) on \(path) fails with \(expected), it fails with \(error)")
        continue
      }
      try expect(false, "\(name) on \(path) fails")
    }
  }
}

/// The promises of `FileSystem`.
package enum FileSystemContract {
  package typealias FileSystemFact = Fact<FileSystemBench>

  package static let facts = contents + names + errors

  private static let contents: [FileSystemFact] = [
    FileSystemFact("what is written is read back, with its status, and a shorter text truncates the file") { bench in
      let (files, path) = (bench.files, bench.path)
      try await bench.put(Array("hello, world".utf8), at: path)
      try await files.write(Array("hello".utf8), to: path)
      try await files.syncFile(path)
      try await files.syncFolder(bench.folder)
      let contents = try await files.read(path, limit: 5, followsLink: false)
      try expect(contents.bytes, is: Array("hello".utf8))
      try expect(contents.status, is: try await files.status(path))
      try expect(contents.status.kind, is: .file)
      try expect(contents.status.size, is: 5)
      try expect(contents.status.isOwn, "the file is one's own")
    },
    FileSystemFact("files and folders are created for their owner only, until their mode is set") { bench in
      let (files, path) = (bench.files, bench.path)
      try await files.createFile(path)
      try await files.createFolder(bench.folder + "/sub")
      try expect(try await files.status(path).mode, is: 0o600)
      try expect(try await files.status(bench.folder + "/sub").mode, is: 0o700)
      try await files.setMode(path, to: 0o640)
      try expect(try await files.status(path).mode, is: 0o640)
    },
    FileSystemFact("allocated room exists, keeps the contents, and is cut to what is written") { bench in
      let (files, path) = (bench.files, bench.path)
      try await bench.put([7, 8, 9], at: path)
      try await files.allocate(path, bytes: 64 << 10)
      try expect(try await files.status(path).size, is: 64 << 10)
      try expect(Array(try await bench.bytes(at: path).prefix(4)), is: [7, 8, 9, 0])
      try await files.allocate(path, bytes: 2)
      try expect(try await files.status(path).size, is: 64 << 10)
      try await files.write([1, 2, 3], to: path)
      try expect(try await bench.bytes(at: path), is: [1, 2, 3])
    },
    FileSystemFact("a file longer than the limit is not read, and one as long as the limit is") { bench in
      try await bench.put([1, 2, 3], at: bench.path)
      try await bench.expectEachStep(on: bench.path, throws: .exists, only: ["createFile", "createFolder"])
      try await expect(throws: FileError.tooBig) {
        try await bench.files.read(bench.path, limit: 2, followsLink: false)
      }
      try expect(try await bench.files.read(bench.path, limit: 3, followsLink: false).bytes, is: [1, 2, 3])
    },
  ]

  private static let names: [FileSystemFact] = [
    FileSystemFact("a rename replaces the old file with the new one, and leaves no other name") { bench in
      let (files, path) = (bench.files, bench.path)
      try await bench.put([6], at: path)
      let old = try await files.status(path).inode
      try await bench.put([7], at: bench.folder + "/new")
      try await files.rename(bench.folder + "/new", to: path)
      try expect(try await bench.bytes(at: path), is: [7])
      try expect(try await files.status(path).inode != old, "it is another file")
      try expect(try await files.names(in: bench.folder), is: ["file"])
    },
    FileSystemFact("it stays the same file whatever is written into it, and a removed file is gone") { bench in
      let (files, path) = (bench.files, bench.path)
      try await files.createFile(path)
      let inode = try await files.status(path).inode
      try await files.write([7], to: path)
      try expect(try await files.status(path).inode, is: inode)
      try await files.removeFile(path)
      try await expect(throws: FileError.absent) { try await files.status(path) }
      try expect(try await files.names(in: bench.folder), is: [])
    },
    FileSystemFact("the names in a folder are only those directly in it") { bench in
      try await bench.files.createFile(bench.path)
      try await bench.files.createFolder(bench.folder + "/sub")
      try await bench.files.createFile(bench.folder + "/sub/below")
      bench.putLink("file", bench.folder + "/link")
      try expect(Set(try await bench.files.names(in: bench.folder)), is: ["file", "sub", "link"])
    },
    FileSystemFact("a link is followed only on request, and nothing is changed through it") { bench in
      let (files, link) = (bench.files, bench.folder + "/link")
      try await bench.put([7], at: bench.path)
      bench.putLink(bench.path, link)
      try expect(try await files.status(link).kind, is: .link)
      try expect(try await files.target(ofLink: link), is: bench.path)
      try expect(try await files.read(link, limit: 9, followsLink: true).bytes, is: [7])
      try await bench.expectEachStep(
        on: link, throws: .symbolicLink, only: ["read", "write", "allocate", "syncFile", "setMode"])
      try expect(try await bench.bytes(at: bench.path), is: [7])
      try await files.removeFile(link)
      try expect(try await files.names(in: bench.folder), is: ["file"])
    },
  ]

  private static let errors: [FileSystemFact] = [
    FileSystemFact("each step on a missing path says that it is absent") { bench in
      try await bench.expectEachStep(on: bench.folder + "/absent/file", throws: .absent)
    },
    FileSystemFact("nothing is renamed into a missing folder") { bench in
      try await bench.put([7], at: bench.path)
      try await expect(throws: FileError.absent) {
        try await bench.files.rename(bench.path, to: bench.folder + "/absent/file")
      }
      try expect(try await bench.bytes(at: bench.path), is: [7])
    },
    FileSystemFact("a file in place of a folder is a failure, not an absence") { bench in
      try await bench.files.createFile(bench.path)
      try await bench.expectEachStep(on: bench.path + "/below", throws: .failed("Not a directory"))
      try await bench.expectEachStep(
        on: bench.path, throws: .failed("Not a directory"), only: ["names", "syncFolder"])
      try await expect(throws: FileError.failed("Invalid argument")) {
        try await bench.files.target(ofLink: bench.path)
      }
    },
    FileSystemFact("a folder in place of a file is not read, written, replaced or removed") { bench in
      let folder = bench.folder + "/sub"
      try await bench.files.createFolder(folder)
      try await bench.files.createFile(bench.path)
      try await bench.expectEachStep(
        on: folder, throws: .failed("Is a directory"),
        but: ["read": .notRegular, "createFile": .exists, "createFolder": .exists],
        only: ["read", "write", "allocate", "syncFile", "removeFile", "createFile", "createFolder"])
      try await expect(throws: FileError.failed("Is a directory")) {
        try await bench.files.rename(bench.path, to: folder)
      }
      try expect(try await bench.files.status(folder).kind, is: .folder)
    },
  ]
}
