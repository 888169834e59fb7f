import Glibc
import HearthClient
import HearthControl

/// A running `hearthd` that has reported that it is ready.
final class RunningDaemon {
  static let strace = "/usr/bin/strace"

  let socket: String
  private(set) var startedAt: ContinuousClock.Instant
  /// The time from its start until READY=1 (sd_notify(3)).
  private(set) var untilReady = Duration.zero
  /// The time from its start until it answered `outbox.getStats`.
  private(set) var untilAnswered = Duration.zero
  private var program: Program?
  private let folder: String
  private let isCounted: Bool

  /// Starts the daemon. With `isCounted`, strace(1) counts its calls of fdatasync(2).
  init(folder: String, configuration: String, isCounted: Bool = false) throws {
    self.folder = folder
    self.isCounted = isCounted
    socket = "\(folder)/s"
    startedAt = .now
    try Scratch.write(configuration, to: "\(folder)/config.toml")
    try start()
  }

  private func start() throws {
    let notifications = try NotifySocket(path: "\(folder)/n")
    startedAt = .now
    let line =
      (isCounted ? [Self.strace, "-f", "-qq", "-e", "trace=fdatasync", "-o", "\(folder)/trace"] : [])
      + ["\(Program.folder)/hearthd", "--config", "\(folder)/config.toml", "--socket", socket]
      + ["--state-dir", "\(folder)/state"]
    program = try Program(
      line[0], Array(line.dropFirst()), environment: ["HOME": folder, "NOTIFY_SOCKET": "\(folder)/n"])
    try notifications.awaitReady()
    untilReady = ContinuousClock.now - startedAt
    var client = try ControlClient(path: socket)
    _ = try client.call(GetOutboxStats.name)
    untilAnswered = ContinuousClock.now - startedAt
  }

  func restart() throws {
    stop()
    try start()
  }

  /// Its process id. Under strace(1), it is the only child.
  var pid: pid_t {
    guard let program else { return 0 }
    guard isCounted else { return program.pid }
    let children = Scratch.read("/proc/\(program.pid)/task/\(program.pid)/children")
    return children.split(separator: " ").first.flatMap { pid_t($0) } ?? 0
  }

  /// The user and system processor time that it has used (proc_pid_stat(5)).
  var processorTime: Duration {
    let fields = Scratch.read("/proc/\(pid)/stat").split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 12, let user = Int(fields[11]), let system = Int(fields[12]) else { return .zero }
    return .seconds(user + system) / sysconf(Int32(_SC_CLK_TCK))
  }

  /// The number of its calls of fdatasync(2).
  var syncs: Int { Scratch.read("\(folder)/trace").split(separator: "\n").count { $0.contains("fdatasync(") } }

  @discardableResult
  func call(_ method: String, _ params: JSONObject = [:], within limit: Duration? = .seconds(60)) throws -> JSON {
    var client = try ControlClient(path: socket)
    return try client.call(method, params, within: limit)
  }

  func stop() {
    kill(pid, SIGTERM)
    program?.wait()
    program = nil
  }
}

/// The service manager's end of sd_notify(3).
private final class NotifySocket {
  private let descriptor: Int32

  init(path: String) throws {
    unlink(path)
    descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var timeout = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
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
