import Glibc
import HearthControl

/// A `hearthd` that was started and has said that it is ready.
final class RunningDaemon {
  let program: Program
  let socket: String
  /// From its start until READY=1 (sd_notify(3)).
  let untilReady: Duration
  /// From its start until `outbox.getStats` was answered.
  let untilAnswered: Duration

  init(folder: String, configuration: String) throws {
    try Scratch.write(configuration, to: "\(folder)/config.toml")
    socket = "\(folder)/s"
    let notifications = try NotifySocket(path: "\(folder)/n")
    let start = ContinuousClock.now
    program = try Program(
      "\(Program.folder)/hearthd",
      ["--config", "\(folder)/config.toml", "--socket", socket, "--state-dir", "\(folder)/state"],
      environment: ["HOME": folder, "NOTIFY_SOCKET": "\(folder)/n"])
    try notifications.awaitReady()
    untilReady = ContinuousClock.now - start
    var client = try ControlClient(path: socket)
    _ = try client.call(GetOutboxStats.name)
    untilAnswered = ContinuousClock.now - start
  }

  @discardableResult
  func call(_ method: String, _ params: JSONObject = [:], within limit: Duration? = .seconds(60)) throws -> JSON {
    var client = try ControlClient(path: socket)
    return try client.call(method, params, within: limit)
  }

  func stop() {
    program.signal(SIGTERM)
    program.wait()
  }
}

/// The service manager's end of sd_notify(3).
private final class NotifySocket {
  private let descriptor: Int32

  init(path: String) throws {
    unlink(path)
    descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var patience = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else { throw BenchFailure(description: "\(path): \(String(cString: strerror(errno)))") }
  }

  deinit { close(descriptor) }

  func awaitReady() throws {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { throw BenchFailure(description: "hearthd did not become ready.") }
      if String(decoding: buffer.prefix(count), as: UTF8.self).contains("READY=1") { return }
    }
  }
}
