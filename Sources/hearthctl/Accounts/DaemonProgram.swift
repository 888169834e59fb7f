import Glibc
import HearthControl
import HearthCore

/// The program `hearthd`, which reads configurations and knows the providers: it is asked about them, and runs for that
/// moment alone.
struct DaemonProgram {
  private let path: String
  /// A report needs no network.
  private static let patience: Duration = .seconds(20)
  /// More than the daemon's program waits for a provider itself.
  private static let discoveryPatience: Duration = .seconds(25)

  /// The one beside this program, else the one in `$PATH`.
  static func find() throws(CommandFailure) -> DaemonProgram {
    let own = String(unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer in
      buffer.withMemoryRebound(to: CChar.self) { max(readlink("/proc/self/exe", $0.baseAddress!, $0.count), 0) }
    }
    let beside = own.lastIndex(of: "/").map { String(own[...$0]) + "hearthd" }
    let others = (variable("PATH") ?? "").split(separator: ":").map { String($0) + "/hearthd" }
    guard let path = ([beside].compactMap(\.self) + others).first(where: { access($0, X_OK) == 0 }) else {
      throw CommandFailure(
        .failed, "hearthd, which reads the configuration, is neither beside hearthctl nor in $PATH: install it.")
    }
    return DaemonProgram(path: path)
  }

  struct Account: Equatable {
    let name: String
    let type: String
    /// Its preset; nil without one.
    let provider: String?
    let issuer: String
    /// What seals its credential, and the key file that is named for that.
    let protection: String
    let keyFile: String?

    var json: JSON {
      [
        "account": .string(name), "type": .string(type), "provider": JSON(provider), "issuer": .string(issuer),
        "protection": .string(protection),
      ]
    }
  }

  struct Provider {
    let name: String
    let type: String
    /// Nil where each customer has one of their own, or there is none.
    let issuer: String?
    let issuerExample: String?
    /// The keys that an account has to have, and those that most clients need.
    let required: [String]
    let usual: [String]
    let json: JSON
  }

  struct Endpoints {
    /// Nil where the endpoints are configured.
    let discovery: String?
    let token: String?
    let hasBrowser: Bool
    let hasDevice: Bool
    let json: JSON
  }

  /// Why there is no report: what the reader says is wrong with the configuration, or that the provider has not answered.
  struct Refusal: Error {
    let sentence: String
  }

  /// The accounts of a configuration file; throws a `Refusal` where it cannot be used.
  func accounts(of path: String) throws -> [Account] {
    let report = try ask(["--describe", "--config", path])
    return try (report["accounts"]?.array ?? []).map { account in
      guard let name = account["account"]?.string, let type = account["type"]?.string,
        let issuer = account["issuer"]?.string, let protection = account["protection"]?.string
      else { throw notUnderstood }
      return Account(
        name: name, type: type, provider: account["provider"]?.string, issuer: issuer, protection: protection,
        keyFile: account["keyFile"]?.string)
    }
  }

  func providers() throws -> [Provider] {
    try (ask(["--describe-providers"])["providers"]?.array ?? []).map { provider in
      guard let name = provider["provider"]?.string, let type = provider["type"]?.string else { throw notUnderstood }
      return Provider(
        name: name, type: type, issuer: provider["issuer"]?.string, issuerExample: provider["issuerExample"]?.string,
        required: provider["required"]?.array?.compactMap(\.string) ?? [],
        usual: provider["usual"]?.array?.compactMap(\.string) ?? [], json: provider)
    }
  }

  /// Where the account's provider answers; throws a `Refusal` where it does not.
  func discover(_ account: AccountName, in path: String) throws -> Endpoints {
    let report = try ask(["--discover", account.description, "--config", path], within: Self.discoveryPatience)
    return Endpoints(
      discovery: report["discovery"]?.string, token: report["tokenEndpoint"]?.string,
      hasBrowser: report["authorizationEndpoint"]?.string != nil,
      hasDevice: report["deviceAuthorizationEndpoint"]?.string != nil, json: report)
  }

  private var notUnderstood: CommandFailure {
    CommandFailure(.failed, "What \(path) says cannot be understood: is its version another one?")
  }

  private func ask(_ arguments: [String], within limit: Duration = Self.patience) throws -> JSON {
    let output = try run(arguments, within: limit)
    guard let report = try? JSON(parsing: output), report.object != nil else { throw notUnderstood }
    if let sentence = report["error"]?.string { throw Refusal(sentence: sentence) }
    return report
  }

  /// What it prints.
  private func run(_ arguments: [String], within limit: Duration) throws(CommandFailure) -> [UInt8] {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw CommandFailure(.failed, "There is no pipe (\(reason())).") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    // A unit's %d is not known here, and what lies there is not read: any folder will do.
    setenv("CREDENTIALS_DIRECTORY", "/run/credentials", 0)
    var words = ([path] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var process = pid_t()
    let code = posix_spawn(&process, path, &actions, nil, &words, environ)
    close(ends[1])
    guard code == 0 else {
      throw CommandFailure(.failed, "\(path) cannot be run: \(String(cString: strerror(code))).")
    }
    let output = Self.read(ends[0], until: Timestamp.now + limit)
    if output == nil { kill(process, SIGKILL) }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    guard let output else { throw CommandFailure(.later, "\(path) did not say anything in time: try again.") }
    return output
  }

  /// Nil where it has not ended until then.
  private static func read(_ descriptor: Int32, until deadline: Timestamp) -> [UInt8]? {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let left = deadline.since(.now) / .milliseconds(1)
      var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = left > 0 ? poll(&event, 1, Int32(left)) : 0
      if ready == 0 { return nil }
      if ready < 0 { continue }
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count == 0 { return bytes }
      if count > 0 { bytes += chunk[..<count] }
    }
  }
}
