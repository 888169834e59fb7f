import Glibc
import HearthCore
import Logging
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import HearthLinux

@Suite("The loopback address of a sign-in", .timeLimit(.minutes(1)))
struct LoopbackListenerTests {
  private static let page: RedirectPage = {
    var page = RedirectPage(status: 200, html: "<p>Done", policy: "default-src 'none'")
    page.location = "https://id.example.com/again"
    return page
  }()

  /// Listens while `body` runs, and answers each request with the page.
  private func listening(
    _ address: RedirectAddress = RedirectAddress(), peer: LoopbackPeer = LoopbackPeer(),
    _ body: (Int) async throws -> Void
  ) async throws -> [RedirectRequest] {
    var listener = LoopbackListener(logger: Logger(label: "test"))
    listener.peer = peer
    let open = try await listener.listen(at: address)
    return try await withThrowingTaskGroup(of: [RedirectRequest].self) { group in
      group.addTask {
        var requests: [RedirectRequest] = []
        for await received in open.requests {
          requests.append(received.request)
          received.respond(Self.page)
        }
        return requests
      }
      try await body(open.port)
      await open.close()
      return try await group.next() ?? []
    }
  }

  /// What the server sends until it closes; nil where nobody listens.
  private func send(_ text: String, to host: String, _ port: Int) async throws -> String? {
    try await onThread { () -> String? in
      guard let client = LoopbackClient(host: host, port: port) else { return nil }
      client.send(text)
      return client.receiveAll()
    }
  }

  @Test("a request is handed on as it came, and its page sent with headers that let nothing run")
  func answers() async throws {
    let requests = try await listening { port in
      let text = "GET /callback?code=x&state=y HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n"
      let answer = try #require(await send(text, to: "127.0.0.1", port))
      #expect(answer.hasPrefix("HTTP/1.1 200") && answer.hasSuffix("<p>Done"))
      for header in [
        "Content-Security-Policy: default-src 'none'", "Cache-Control: no-store", "Referrer-Policy: no-referrer",
        "X-Content-Type-Options: nosniff", "Content-Type: text/html; charset=utf-8",
        "Location: https://id.example.com/again",
      ] { #expect(answer.contains(header)) }
    }
    #expect(requests.map(\.target) == ["/callback?code=x&state=y"])
    #expect(requests.map(\.method) == ["GET"])
  }

  @Test("HEAD is answered as GET is, without the page")
  func head() async throws {
    let requests = try await listening { port in
      let answer = try #require(await send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n", to: "127.0.0.1", port))
      #expect(answer.contains("Content-Length: \(Self.page.html.utf8.count)") && answer.hasSuffix("\r\n\r\n"))
    }
    #expect(requests.map(\.method) == ["HEAD"])
  }

  /// `from`: the whole command, which connects by itself.
  private func connect(_ command: String...) async throws {
    try await onThread {
      var process = pid_t()
      let words = command.map { strdup($0) } + [nil]
      defer { words.forEach { free($0) } }
      guard posix_spawn(&process, words[0]!, nil, nil, words, environ) == 0 else { return }
      var status: Int32 = 0
      _ = uninterrupted { waitpid(process, &status, 0) }
    }
  }

  @Test(
    "a request of this user is told from another user's, on either address and from IPv6 to IPv4",
    arguments: ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
  func user(_ host: String) async throws {
    let requests = try await listening { port in
      _ = try await send("GET /mine HTTP/1.1\r\nHost: h\r\n\r\n", to: host, port)
      if getuid() == 0 { try await request("/theirs", from: 1, to: host, port) }
    }
    #expect(requests.first { $0.target == "/mine" }?.sender == .user)
    if getuid() == 0 { #expect(requests.first { $0.target == "/theirs" }?.sender == .otherUser) }
  }

  /// As another user.
  private func request(_ target: String, from user: uid_t, to host: String, _ port: Int) async throws {
    let request = "printf 'GET \(target) HTTP/1.1\\r\\nHost: h\\r\\n\\r\\n' >&3"
    let script = "exec 3<>/dev/tcp/\(host)/\(port) && \(request) && cat <&3 >/dev/null"
    try await connect("/usr/bin/setpriv", "--reuid=\(user)", "--clear-groups", "/bin/bash", "-c", script)
  }

  @Test(
    "a request of root's counts as this user's, who is another one",
    .enabled(if: getuid() == 0, "Only root can make a request of root's."), arguments: ["127.0.0.1", "::1"])
  func root(_ host: String) async throws {
    var peer = LoopbackPeer()
    peer.user = 1
    let requests = try await listening(peer: peer) { port in
      _ = try await send("GET /roots HTTP/1.1\r\nHost: h\r\n\r\n", to: host, port)
      try await request("/mine", from: 1, to: host, port)
      try await request("/theirs", from: 2, to: host, port)
    }
    let senders = Dictionary(requests.map { ($0.target, $0.sender) }) { $1 }
    #expect(senders == ["/roots": .user, "/mine": .user, "/theirs": .otherUser])
  }

  @Test("a request is nobody's if this namespace has no socket that sent it")
  func elsewhere() async throws {
    var peer = LoopbackPeer()
    peer.find = { _, _ in nil }
    peer.read = { _ in "" }
    let requests = try await listening(peer: peer) { port in
      let answer = try await send("GET / HTTP/1.1\r\nHost: h\r\n\r\n", to: "127.0.0.1", port)
      #expect(answer?.hasPrefix("HTTP/1.1 200") == true, "it has a page")
    }
    #expect(requests.map(\.sender) == [.unknown])
  }

  @Test(
    "the kernel is asked for the one connection, so that nobody's many others take time", .timeLimit(.minutes(1)),
    arguments: ["127.0.0.1", "::1"])
  func oneConnection(_ host: String) async throws {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .bind(host: host, port: 0).get()
    let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connect(to: try #require(server.localAddress)).get()
    let (own, other) = (try #require(client.localAddress), try #require(client.remoteAddress))
    let entry = try #require(LoopbackPeer.entry(from: own, to: other))
    #expect(entry.user == geteuid() && entry.inode != 0)
    #expect(LoopbackPeer().sender(from: own, to: other) == .user)
    // Who listens there is not who is connected.
    #expect(LoopbackPeer.entry(from: other, to: other) == nil)
    try await client.close()
    try await server.close()
    // A program that another test starts just now has the socket open too until it is executed.
    let limit = ContinuousClock().now + .generous
    while LoopbackPeer().sender(from: own, to: other) != .unknown {
      try #require(ContinuousClock().now < limit, "the socket stays open")
      await Task.yield()
    }
  }

  @Test("both loopback addresses are listened on, at one port, and nothing else is")
  func both() async throws {
    let requests = try await listening { port in
      #expect(try await send("GET /1 HTTP/1.1\r\nHost: h\r\n\r\n", to: "127.0.0.1", port) != nil)
      _ = try await send("GET /2 HTTP/1.1\r\nHost: h\r\n\r\n", to: "::1", port)
      #expect(try await send("", to: "127.0.0.2", port) == nil)
    }
    #expect(requests.first?.target == "/1")
  }

  @Test("nobody is listening once it is closed")
  func closed() async throws {
    // Another test's server may be given the port meanwhile.
    for _ in 0..<5 {
      var port = 0
      _ = try await listening { port = $0 }
      if try await send("", to: "127.0.0.1", port) == nil { return }
    }
    Issue.record("somebody is listening, five times")
  }

  @Test("a port that is taken is named, with what to do")
  func taken() async throws {
    _ = try await listening { port in
      let failure = await #expect(throws: SignInFailure.self) {
        _ = try await LoopbackListener(logger: Logger(label: "test")).listen(at: RedirectAddress(port: port))
      }
      #expect(failure?.message.contains("127.0.0.1:\(port)") == true)
      #expect(failure?.message.contains("redirect_port") == true)
    }
  }

  @Test("a port is free again as soon as it is closed, though a browser keeps its connection")
  func again() async throws {
    // Another test may be given the port meanwhile, for a server or as a client's own.
    var failure: (any Error)?
    for _ in 0..<5 {
      do { return try await listenTwice() } catch let error as SignInFailure { failure = error }
    }
    Issue.record("the port was taken, five times: \(String(describing: failure))")
  }

  private func listenTwice() async throws {
    let listener = LoopbackListener(logger: Logger(label: "test"))
    let first = try await listener.listen(at: RedirectAddress())
    let client = try #require(try await onThread { LoopbackClient(host: "127.0.0.1", port: first.port).map(Kept.init) })
    await first.close()
    let second = try await listener.listen(at: RedirectAddress(port: first.port))
    #expect(second.port == first.port)
    await second.close()
    _ = client
  }

  @Test("connections that say nothing keep no browser out")
  func crowd() async throws {
    let requests = try await listening { port in
      let crowd = try await onThread {
        (0..<3 * LoopbackListener.mostConnections).compactMap { _ in
          LoopbackClient(host: "127.0.0.1", port: port).map(Kept.init)
        }
      }
      let answer = try await send("GET /browser HTTP/1.1\r\nHost: h\r\n\r\n", to: "127.0.0.1", port)
      #expect(answer?.hasPrefix("HTTP/1.1 200") == true)
      _ = crowd
    }
    #expect(requests.map(\.target) == ["/browser"])
  }

  @Test("for \"localhost\" both addresses are this sign-in's, or it does not begin")
  func localhost() async throws {
    let listener = LoopbackListener(logger: Logger(label: "test"))
    let other = try await listener.listen(at: RedirectAddress(host: "[::1]"))
    let free = try await listener.listen(at: RedirectAddress(host: "localhost"))
    #expect(free.port != other.port)
    await #expect(throws: SignInFailure.self) {
      _ = try await listener.listen(at: RedirectAddress(host: "localhost", port: other.port))
    }
    await other.close()
    await free.close()
  }

  @Test("what is no HTTP, or too much of it, is handed on to nobody")
  func nonsense() async throws {
    let requests = try await listening { port in
      _ = try await send("hello\r\n\r\n", to: "127.0.0.1", port)
      let long = String(repeating: "x", count: 200_000)
      _ = try await send("GET / HTTP/1.1\r\nHost: h\r\nX: \(long)\r\n\r\n", to: "127.0.0.1", port)
      _ = try await send("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", to: "127.0.0.1", port)
    }
    #expect(requests.allSatisfy { $0.host == nil })
    #expect(requests.count <= 1)
  }
}

/// A connection that a browser keeps open.
private struct Kept: @unchecked Sendable {
  let client: LoopbackClient
}

/// Blocks: for use on a thread of its own.
private final class LoopbackClient {
  private let descriptor: Int32

  init?(host: String, port: Int) {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_NUMERICHOST
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, "\(port)", &hints, &found) == 0, let address = found else { return nil }
    defer { freeaddrinfo(found) }
    descriptor = socket(address.pointee.ai_family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var timeout = timeval.generous
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    guard uninterrupted({ Int(connect(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen)) }) == 0 else {
      return nil
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func send(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { buffer in
        uninterrupted { Glibc.send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL)) }
      }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  func receiveAll() -> String {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = uninterrupted { recv(descriptor, &chunk, chunk.count, 0) }
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += chunk.prefix(count)
    }
  }
}
