import ArgumentParser
import Glibc
import HearthCore
import TestSupport
import Testing

@testable import hearthctl

@Suite("The body of a request") struct RequestBodyTests {
  private let folder = TemporaryFolder()

  private func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) } }

  private func all(_ body: RequestBody, from offset: Int = 0) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      let piece = try body.piece(at: offset + bytes.count)
      #expect(piece.count <= APIRequest.pieceLimit)
      if piece.isEmpty { return bytes }
      bytes += piece
    }
  }

  private func file(_ count: Int) throws -> String {
    let path = "\(folder.path)/file"
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(descriptor) }
    #expect(WholeFile.write(bytes(count), to: descriptor))
    return path
  }

  @Test(
    "a method that HTTP has is read in any case, another one as it stands",
    arguments: [("post", "POST"), ("Get", "GET"), ("PATCH", "PATCH"), ("purge", "purge")])
  func method(_ text: String, _ method: String) throws {
    #expect(try RequestOptions.parse(["a", text, "u"]).target.method == method)
  }

  @Test("of a file has its length, and can be read again from anywhere", arguments: [1, 65_536, 200_001])
  func files(_ count: Int) throws {
    let body = try RequestBody(path: try file(count))
    #expect(body.upload == .sized(count))
    #expect(try all(body) == bytes(count))
    #expect(try all(body, from: count / 2) == Array(bytes(count)[(count / 2)...]))
    #expect(try all(body) == bytes(count))
  }

  @Test("of a file that grows while it is sent has the length that it had; of one that shrinks is given up")
  func changed() throws {
    let path = try file(100_000)
    let body = try RequestBody(path: path)
    let descriptor = open(path, O_WRONLY | O_APPEND)
    defer { close(descriptor) }
    #expect(WholeFile.write([1, 2, 3], to: descriptor))
    #expect(try all(body) == bytes(100_000))
    truncate(path, 70_000)
    #expect(
      throws: CommandFailure(.failed, "The file became shorter while it was being sent, so the request was cancelled.")
    ) {
      try all(body)
    }
  }

  @Test("of a pipe is read once; as long as it is short it has its length, and can be read again")
  func pipes() async throws {
    for count in [0, 5, 300_000, RequestBody.keptBeginning + 100_000] {
      let (path, bytes) = (try fifo(), bytes(count))
      async let written = onThread {
        let descriptor = open(path, O_WRONLY)
        defer { close(descriptor) }
        return WholeFile.write(bytes, to: descriptor)
      }
      let isLong = count > RequestBody.keptBeginning
      try await onThread { [self] in
        let body = try RequestBody(path: path)
        #expect(body.upload == (isLong ? .chunked : .sized(count)))
        #expect(try body.piece(at: 0) == Array(bytes.prefix(65_536)))
        #expect(try all(body) == bytes)
        if isLong {
          #expect(throws: CommandFailure.self) { try body.piece(at: 0) }
        } else {
          #expect(try all(body) == bytes)
        }
      }
      #expect(try await written)
    }
  }

  @Test("of a file of the kernel's, which tells no length, is read to its end")
  func kernel() throws {
    let body = try RequestBody(path: "/proc/self/status")
    guard case .sized(let count) = body.upload else {
      Issue.record("\(body.upload)")
      return
    }
    #expect(try all(body).count == count && count > 100)
  }

  @Test("of a text is that text")
  func text() throws {
    let body = RequestBody(bytes(70_000))
    #expect(body.upload == .sized(70_000))
    #expect(try all(body) == bytes(70_000) && body.whole() == bytes(70_000))
  }

  @Test("of what is not there, or is a folder, is none")
  func none() throws {
    #expect(throws: CommandFailure(.failed, "/nowhere cannot be read: No such file or directory.")) {
      _ = try RequestBody(path: "/nowhere")
    }
    #expect(throws: CommandFailure(.failed, "/proc cannot be read: Is a directory.")) {
      _ = try RequestBody(path: "/proc")
    }
  }

  private func fifo() throws -> String {
    let path = "\(folder.path)/pipe\(Int.random(in: 0..<1_000_000_000))"
    guard mkfifo(path, 0o600) == 0 else { throw CallFailure("mkfifo") }
    return path
  }
}
