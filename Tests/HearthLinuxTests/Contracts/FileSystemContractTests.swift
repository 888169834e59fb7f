import Glibc
import HearthCore
import HearthLinux
import TestSupport
import Testing

@Suite("The contract of FileSystem")
struct FileSystemContractTests {
  static let implementations = [
    Implementation<FileSystemBench>("LinuxFileSystem") { check in
      let folder = TemporaryFolder()
      defer { folder.remove() }
      try await check(FileSystemBench(LinuxFileSystem(), folder: folder.path) { symlink($0, $1) })
    },
    Implementation<FileSystemBench>("MemoryFileSystem") { check in
      let files = MemoryFileSystem(folders: ["/home"], now: { .sample })
      try await check(FileSystemBench(files, folder: "/home") { files.putLink(to: $0, at: $1) })
    },
  ]

  @Test("is kept by the real one and by its doubles", arguments: FileSystemContract.facts, implementations)
  func isKept(_ fact: Fact<FileSystemBench>, by files: Implementation<FileSystemBench>) async throws {
    try await files.keeps(fact)
  }
}
