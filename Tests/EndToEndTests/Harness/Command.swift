import Glibc
import TestSupport

/// A program of the system, run until it exits.
enum Command {
  /// Throws unless the program succeeds.
  static func run(_ line: [String], environment: [String] = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    actions.close(from: 3)
    let words = line.map { strdup($0) }
    let variables = environment.map { strdup($0) }
    defer { (words + variables).forEach { free($0) } }
    var pid: pid_t = 0
    guard posix_spawn(&pid, line[0], &actions, nil, words + [nil], variables + [nil]) == 0 else {
      throw CallFailure(line[0])
    }
    var status: Int32 = 0
    guard uninterrupted({ waitpid(pid, &status, 0) }) == pid, status == 0 else {
      throw NeverHappened(description: "\(line) ended with \(status).")
    }
  }
}
