import Glibc
import TestSupport

/// A temporary folder and the programs that run in it. Everything is removed after the test.
final class TestEnvironment {
  /// Short, because the path of a socket has room for only 107 bytes.
  let folder: String
  /// The user of the daemons.
  let user: uid_t
  private var processes: [ChildProcess] = []

  private init(user: uid_t) throws {
    var template = Array("/tmp/hearth-e2e-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw CallFailure("mkdtemp") }
    folder = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    self.user = user
    try Files.makeFolder(folder, owner: user)
    try Files.makeFolder(folder + "/output")
  }

  /// With `unprivileged`, daemons run as a user without root's rights, even if the test runs as root.
  static func run(unprivileged: Bool = false, _ scene: (TestEnvironment) async throws -> Void) async throws {
    let environment = try TestEnvironment(user: unprivileged && getuid() == 0 ? 65_534 : getuid())
    defer { environment.clear() }
    do {
      try await scene(environment)
    } catch {
      for process in environment.processes where process.name == "hearthd" {
        print("--- hearthd:\n\(process.errors)---")
      }
      throw error
    }
  }

  /// Runs a scene with a sandbox and a daemon with the account `work` at that sandbox, which is signed in unless
  /// `signsIn` is false. `further` is what the configuration has after the account's first lines; `options` are those of
  /// the sandbox.
  static func session(
    _ further: String = "", unprivileged: Bool = false, sandbox options: [String] = [], signsIn: Bool = true,
    _ scene: (TestEnvironment, Sandbox, Daemon) async throws -> Void
  ) async throws {
    try await run(unprivileged: unprivileged) { environment in
      let sandbox = try Sandbox(on: environment, name: "sandbox", options: options)
      let daemon = try environment.daemon(Configuration.oidc(sandbox) + further)
      if signsIn { try daemon.signIn(at: sandbox) }
      try await scene(environment, sandbox, daemon)
    }
  }

  private func clear() {
    processes.forEach { $0.kill() }
    Files.removeTree(folder)
  }

  /// Programs get their own home folder, and nothing of the tests' environment.
  func spawn(
    _ program: String, _ arguments: [String], environment: [String: String] = [:], user: uid_t = getuid(),
    launcher: [String] = [], input: String? = nil, terminal: PseudoTerminal? = nil
  ) throws -> ChildProcess {
    var variables = ["HOME": folder, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"]
    variables.merge(environment) { $1 }
    let process = try ChildProcess(
      program, arguments, environment: variables, user: user, launcher: launcher,
      input: terminal.map { .file($0.path) } ?? .text(input ?? ""), outputFolder: folder + "/output")
    processes.append(process)
    return process
  }

  /// Drops the output of ended programs, because a test may start thousands.
  func forgetEnded() {
    processes.removeAll { process in
      guard process.status != nil else { return false }
      process.removeFiles()
      return true
    }
  }

  /// The output of all programs so far, with its source.
  var output: [(path: String, text: String)] {
    processes.flatMap { process in
      [(process.outputPath, process.output), (process.errorPath, process.errors)]
    }
  }

  /// Runs `hearthctl` until it exits.
  func hearthctl(
    _ arguments: [String], environment: [String: String] = [:], input: String? = nil, user: uid_t? = nil
  ) throws -> Run {
    try end(of: spawn("hearthctl", arguments, environment: environment, user: user ?? self.user, input: input))
  }

  /// Runs `hearthd` until it exits, for what it refuses.
  func hearthd(_ arguments: [String], environment: [String: String] = [:]) throws -> Run {
    try end(of: spawn("hearthd", arguments, environment: environment, user: user))
  }

  /// Waits for the program while it or another program here uses the processor, such as a daemon that derives a key for
  /// it.
  private func end(of process: ChildProcess) throws -> Run {
    guard case .exited(let status) = try process.wait(while: processes) else {
      throw NeverHappened(description: "\(process.name) was killed; it wrote: \(process.errors)")
    }
    return Run(status: status, output: process.output, errors: process.errors)
  }

  /// A program that exits by itself.
  struct Run {
    let status: Int32
    let output: String
    let errors: String
  }

  func sandbox(_ name: String = "sandbox", _ options: String...) throws -> Sandbox {
    try Sandbox(on: self, name: name, options: options)
  }

  /// A daemon with this configuration that answers calls.
  func daemon(_ configuration: String, name: String = "daemon") throws -> Daemon {
    let daemon = try Daemon(on: self, name: name, configuration: configuration)
    try daemon.start()
    return daemon
  }
}
