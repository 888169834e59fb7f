import Glibc
import HearthControl
import HearthCore
import Synchronization
import TestSupport

/// Programs of the same user that wear the daemon's socket out, each until it is stopped.
final class HostileNeighbour: Sendable {
  private let path: String
  private let seed: UInt64
  private let isStopped = Atomic(false)
  private let attempts = Atomic(0)

  init(path: String, seed: UInt64) {
    self.path = path
    self.seed = seed
  }

  /// Connections that it made so far.
  var count: Int { attempts.load(ordering: .relaxed) }

  func stop() { isStopped.store(true, ordering: .relaxed) }

  private var goesOn: Bool { !isStopped.load(ordering: .relaxed) }

  /// Asks for long answers on many connections, alone and in arrays, and reads none of them.
  func readNothing() {
    let call = String(decoding: Request(id: 1, method: "outbox.list", params: ["limit": 200]).line, as: UTF8.self)
    let array = "[" + Array(repeating: call.dropLast(), count: 100).joined(separator: ",") + "]\n"
    while goesOn {
      let connections = (0..<12).compactMap { _ in connection() }
      for (index, connection) in connections.enumerated() {
        connection.send(index.isMultiple(of: 4) ? array : String(repeating: call, count: 40))
      }
      for _ in 0..<20 where goesOn { usleep(100_000) }
    }
  }

  /// Connects and leaves, some hundred times a second.
  func comeAndGo() {
    while goesOn {
      _ = connection()
      usleep(2000)
    }
  }

  /// Subscribes to everything many times, and reads nothing of it.
  func subscribe() {
    let call = String(decoding: Request(id: 1, method: "events.subscribe", params: [:]).line, as: UTF8.self)
    while goesOn {
      let connections = (0..<3).compactMap { _ in connection() }
      for connection in connections { connection.send(String(repeating: call, count: 100)) }
      for _ in 0..<20 where goesOn { usleep(100_000) }
    }
  }

  /// Sends what is no call: bytes by chance, lines without an end, nested and long values, calls of what there is not.
  func talkNonsense() {
    var random = SeededGenerator(seed: seed)
    while goesOn {
      guard let connection = connection() else { continue }
      for _ in 0..<Int.random(in: 1...20, using: &random) where goesOn {
        switch Int.random(in: 0...6, using: &random) {
        case 0: connection.send((0..<500).map { _ in UInt8.random(in: 0...255, using: &random) } + [10])
        case 1: connection.send(#"{"jsonrpc":"2.0","id":1,"method":"session.get","params":{"account":"#)
        case 2: connection.send(String(repeating: "[", count: 100_000) + "\n")
        case 3: connection.send("[" + String(repeating: "1,", count: 20_000) + "1]\n")
        case 4: connection.send("\"" + String(repeating: "\\u001b", count: 10_000) + "\"\n")
        case 5: connection.send(#"{"jsonrpc":"2.0","id":{},"method":7,"params":3}"# + "\n")
        default:
          let method = RPCError.Kind.allCases.randomElement(using: &random).map { "\($0)" } ?? ""
          connection.send(#"{"jsonrpc":"2.0","id":2,"method":"outbox.\#(method)"}"# + "\n")
        }
        usleep(2000)
      }
    }
  }

  private func connection() -> Connection? {
    attempts.add(1, ordering: .relaxed)
    return Connection(path: path)
  }

  /// A connection whose client waits for nothing. Closed with its last owner.
  private final class Connection {
    private let descriptor: Int32

    init?(path: String) {
      descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      let descriptor = descriptor
      guard descriptor >= 0 else { return nil }
      var timeout = timeval(tv_sec: 1, tv_usec: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
      guard SocketPath.withAddress(of: path, { connect(descriptor, $0, $1) }) == 0 else { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// What the socket takes of it.
    func send(_ text: String) { send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) {
      _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }
  }
}
