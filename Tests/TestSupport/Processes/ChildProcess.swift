package import Glibc
import Synchronization

/// A running program with its output in files.
package final class ChildProcess: Sendable {
  package enum End: Equatable, Sendable {
    case exited(Int32)
    case killed(by: Int32)
  }

  /// The standard input of the program.
  package enum Input: Sendable {
    case text(String)
    /// A file or device, by its path.
    case file(String)
  }

  package let name: String
  package let pid: pid_t
  package let outputPath: String
  package let errorPath: String
  private let inputPath: String
  private let end = Mutex<End?>(nil)

  /// Starts a program that was built with these tests.
  ///
  /// It runs by its descriptor, because a user without rights may not be able to reach its folder. `launcher` is a
  /// command line that runs the command that follows it. `output` replaces the file in `outputFolder` for the program's
  /// output.
  package init(
    _ program: String, _ arguments: [String], environment: [String: String] = [:], user: uid_t = getuid(),
    launcher: [String] = [], input: Input = .text(""), output: String? = nil, outputFolder: String
  ) throws {
    let binary = open("\(Self.binaries)/\(program)", O_RDONLY | O_CLOEXEC)
    guard binary >= 0 else { throw CallFailure("open \(Self.binaries)/\(program)") }
    defer { close(binary) }
    name = program
    let prefix = "\(outputFolder)/\(program).\(Self.count.add(1, ordering: .relaxed).newValue)"
    outputPath = output ?? prefix + ".out"
    errorPath = prefix + ".err"
    switch input {
    case .text(let text):
      inputPath = prefix + ".in"
      try Files.write(text, to: inputPath)
    case .file(let path): inputPath = path
    }

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, inputPath, O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, outputPath, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_addopen(&actions, 2, errorPath, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_adddup2(&actions, binary, Self.descriptor)
    actions.close(from: Self.descriptor + 1)

    // The program does not inherit the test's signal mask and handlers.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    let own = "/proc/self/fd/\(Self.descriptor)"
    let setpriv = ["/usr/bin/setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups"]
    let line = launcher + (user == getuid() ? [] : setpriv) + [own] + arguments
    let variables = environment.map { "\($0.key)=\($0.value)" }
    var pid: pid_t = 0
    let code = Self.withCStrings(line) { words in
      Self.withCStrings(variables) { posix_spawn(&pid, line[0], &actions, &attributes, words, $0) }
    }
    guard code == 0 else {
      errno = code
      throw CallFailure("posix_spawn \(program)")
    }
    self.pid = pid
  }

  deinit { kill() }

  package var output: String { Files.text(outputPath) }
  package var errors: String { Files.text(errorPath) }

  package func removeFiles() {
    for path in [inputPath, outputPath, errorPath] { unlink(path) }
  }

  /// The exit status, or nil while the program runs.
  package var status: End? {
    end.withLock { end in
      if end != nil { return end }
      var status: Int32 = 0
      guard waitpid(pid, &status, WNOHANG) == pid else { return nil }
      end = status & 0x7f == 0 ? .exited(status >> 8 & 0xff) : .killed(by: status & 0x7f)
      return end
    }
  }

  package func signal(_ number: Int32) {
    end.withLock { end in
      if end == nil { _ = Glibc.kill(pid, number) }
    }
  }

  /// Stops the program and returns when none of its threads runs any more. SIGCONT continues it.
  package func freeze() throws {
    signal(SIGSTOP)
    try eventually("\(name) stands still") {
      Files.names(in: "/proc/\(pid)/task").allSatisfy { thread in
        Files.text("/proc/\(pid)/task/\(thread)/stat").split(separator: ") ").last?.first == "T"
      }
    }
  }

  /// Waits for its end, for as long as it or one of `others` uses the processor.
  @discardableResult
  package func wait(within limit: Duration = .generous, while others: [ChildProcess] = []) throws -> End {
    try eventually("\(name) ends", within: limit, while: { others.reduce(work) { $0 + $1.work } }) { status }
  }

  /// The processor time so far of the program and its ended children, in tenths of a second (proc_pid_stat(5)).
  package var work: Int {
    // The second field, a name in parentheses, may contain spaces.
    let fields = Files.text("/proc/\(pid)/stat").split(separator: ")").last?.split(separator: " ") ?? []
    let ticks = fields.dropFirst(11).prefix(4).reduce(0) { $0 + (Int($1) ?? 0) }
    return ticks * 10 / sysconf(Int32(_SC_CLK_TCK))
  }

  /// Waits for the exit status. Throws if a signal ended the program.
  package func waitForExit() throws -> Int32 {
    let end = try wait()
    guard case .exited(let status) = end else {
      throw NeverHappened(description: "\(name) was to exit; it was \(end).")
    }
    return status
  }

  /// Kills the program and waits for its end.
  package func kill() {
    signal(SIGKILL)
    _ = try? wait()
  }

  private static let count = Atomic<Int>(0)
  /// The descriptor on which the program finds its own binary.
  private static let descriptor: Int32 = 3

  /// The folder of the programs: that of the tests, or `HEARTH_PROGRAMS`.
  package static let binaries: String = {
    if let folder = getenv("HEARTH_PROGRAMS") { return String(cString: folder) }
    let path = String(unsafeUninitializedCapacity: 4096) { buffer in
      buffer.withMemoryRebound(to: CChar.self) { max(readlink("/proc/self/exe", $0.baseAddress!, $0.count), 0) }
    }
    return path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }()

  private static func withCStrings<Result>(
    _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let pointers = texts.map { strdup($0) }
    defer { pointers.forEach { free($0) } }
    return body(pointers + [UnsafeMutablePointer<CChar>?.none])
  }
}
