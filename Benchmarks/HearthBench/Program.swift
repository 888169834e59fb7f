import Glibc

/// Why something could not be measured, in one sentence.
struct BenchFailure: Error, CustomStringConvertible {
  let description: String
}

/// A program that was built with this one, or one of the system.
final class Program {
  let pid: pid_t
  private var hasEnded = false

  init(_ path: String, _ arguments: [String], environment: [String: String], isSilent: Bool = true) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if isSilent {
      posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
      posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    }
    var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { (words + variables).forEach { free($0) } }
    var pid: pid_t = 0
    let code = posix_spawn(&pid, path, &actions, nil, &words, &variables)
    guard code == 0 else { throw BenchFailure(description: "\(path): \(String(cString: strerror(code)))") }
    self.pid = pid
  }

  deinit {
    if !hasEnded {
      kill(pid, SIGKILL)
      wait()
    }
  }

  func signal(_ number: Int32) { kill(pid, number) }

  @discardableResult
  func wait() -> Int32 {
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    hasEnded = true
    return status
  }

  /// The folder of this program.
  static let folder: String = {
    var buffer = [CChar](repeating: 0, count: 4096)
    let length = max(readlink("/proc/self/exe", &buffer, buffer.count - 1), 0)
    let path = String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }()
}

/// A temporary folder, which is removed after the run.
final class Scratch {
  let path: String

  /// Creates the folder in `parent`, on the disk to measure.
  init(in parent: String) throws {
    var template = Array("\(parent)/hearth-bench-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw BenchFailure(description: "\(parent): \(String(cString: strerror(errno)))")
    }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { _ = try? Program("/bin/rm", ["-rf", path], environment: [:]).wait() }

  func makeFolder(_ name: String) -> String {
    mkdir("\(path)/\(name)", 0o700)
    return "\(path)/\(name)"
  }

  static func write(_ text: String, to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw BenchFailure(description: "\(path): \(String(cString: strerror(errno)))") }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
      throw BenchFailure(description: "\(path) cannot be written.")
    }
  }

  /// The content of a file, or "" if there is none.
  static func read(_ path: String) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += chunk[..<count]
    }
  }
}
