import Glibc
import HearthCore
import HearthLinux
import TestSupport
import Testing

/// Tests on real files.
@Suite struct NetrcSinkFilesTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.file(".netrc") }

  private func sink(_ account: AccountName = .sample, host: String = "x.example.com") -> SinkSettings {
    SinkSettings(
      account: account, path: path, format: .netrc, netrc: SinkSettings.Netrc(hosts: [host], login: "ada"))
  }

  private func put(_ token: String, _ sink: SinkSettings? = nil) async throws {
    let files = NetrcSinkFiles(sink?.account ?? .sample)
    _ = try await files.begin(at: sink ?? self.sink())
    try await files.put(Array(token.utf8), at: sink ?? self.sink())
  }

  private var mode: mode_t {
    var status = stat()
    lstat(path, &status)
    return status.st_mode & 0o7777
  }

  private static func line(_ token: String, account: String = "work", host: String = "x.example.com") -> String {
    "#hearthd:\(account)\nmachine \(host) login ada password \(token)\n"
  }

  @Test("a new file is private to its owner, and is removed with its last line")
  func alone() async throws {
    try await put("one")
    #expect(Files.text(path) == Self.line("one") && mode == 0o600)
    try await put("two")
    #expect(Files.text(path) == Self.line("two") && folder.names == [".netrc"])
    try await NetrcSinkFiles(.sample).remove(path, keepingFile: false)
    #expect(folder.names.isEmpty)
    try await NetrcSinkFiles(.sample).remove(path, keepingFile: false)
    try await NetrcSinkFiles(.sample).remove(folder.file("no/such/.netrc"), keepingFile: false)
  }

  @Test("other lines stay, the file is replaced as a whole, and its mode becomes 0600")
  func others() async throws {
    let theirs = "machine a login b password c\nmacdef m\nx"
    try Files.write(theirs, to: path)
    chmod(path, 0o644)
    let reader = open(path, O_RDONLY)
    defer { close(reader) }
    try await put("one")
    #expect(Files.text(path) == Self.line("one") + theirs && mode == 0o600)
    var buffer = [UInt8](repeating: 0, count: 128)
    let count = read(reader, &buffer, buffer.count)
    #expect(String(decoding: buffer[..<max(count, 0)], as: UTF8.self) == theirs)
    try await NetrcSinkFiles(.sample).remove(path, keepingFile: false)
    #expect(Files.text(path) == theirs)
  }

  @Test("accounts that write one file at the same time lose none of their lines")
  func together() async throws {
    let names = try (1...8).map { try #require(AccountName("a\($0)")) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for name in names {
        group.addTask {
          for round in 1...20 { try await put("token-\(round)", sink(name, host: "\(name).example.com")) }
        }
      }
      try await group.waitForAll()
    }
    let text = Files.text(path)
    for name in names {
      #expect(text.contains(Self.line("token-20", account: "\(name)", host: "\(name).example.com")))
    }
    #expect(text.split(separator: "\n").count == 16)
  }

  @Test("a faulty file, a link and a folder are left alone, and a token that is not a word is refused")
  func refused() async throws {
    try Files.write("machine a\nfoo\n", to: path)
    let failure = await #expect(throws: SinkFailure.self) { try await put("one") }
    #expect(failure?.message(at: "/n") == "/n was not changed, because line 2 has an unknown keyword.")
    #expect(Files.text(path) == "machine a\nfoo\n" && folder.names == [".netrc"])
    unlink(path)
    try Files.write("", to: folder.file("dotfiles"))
    symlink(folder.file("dotfiles"), path)
    await #expect(throws: SinkFailure.notRegular) { try await put("one") }
    unlink(path)
    let why = "the token contains characters that some programs cannot read in a netrc file"
    await #expect(throws: SinkFailure.failed(why)) { try await put("a\"b") }
    chmod(folder.path, 0o777)
    await #expect(throws: SinkFailure.self) { try await put("one") }
    #expect(folder.names == ["dotfiles"])
    chmod(folder.path, 0o700)
  }
}
