import Glibc
import TestSupport

/// A small file system over a folder, seen only by the program that its launcher starts.
///
/// A shell beside the program fills it and frees space, on commands through a pipe.
final class SmallDisk {
  let launcher: [String]
  private let pipe: String
  private var done: String { pipe + ".done" }

  init(on environment: TestEnvironment, over folder: String, size: String) throws {
    pipe = "\(environment.folder)/small-disk"
    guard mkfifo(pipe, 0o600) == 0 else { throw CallFailure("mkfifo") }
    guard let unshare = Self.unshare else { throw NeverHappened(description: "No file system can be mounted here.") }
    // Ends by itself if nobody tells it to.
    let script = """
      set -e
      mkdir -p "$0"
      mount -t tmpfs -o size=\(size),mode=700 hearth "$0"
      timeout 300 sh -c 'while :; do read -r order < "$1" || continue; case $order in
        fill) until ! head -c 4096 /dev/zero >> "$0/filler" 2> /dev/null; do
                cat /dev/zero >> "$0/filler" 2> /dev/null
              done;;
        free) rm -f "$0/filler";;
        end) exit;;
      esac; : > "$1.done"; done' "$0" "\(pipe)" 3<&- &
      exec "$@"
      """
    launcher = unshare + ["/bin/sh", "-c", script, folder]
  }

  deinit { try? tell("end") }

  /// Fills the disk. When it returns, not even one block can be written.
  func fill() throws { try order("fill") }

  /// Frees the space again.
  func free() throws { try order("free") }

  private func order(_ order: String) throws {
    unlink(done)
    // Between two orders, the shell opens the pipe again.
    try eventually("the shell next to the program listens") { (try? tell(order)) != nil }
    try eventually("the order is carried out: \(order)") { Files.exists(done) }
  }

  private func tell(_ order: String) throws {
    // Without a reader, nobody is left to tell.
    let descriptor = open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw CallFailure("open \(pipe)") }
    defer { close(descriptor) }
    guard write(descriptor, order + "\n", order.utf8.count + 1) > 0 else { throw CallFailure("write \(pipe)") }
  }

  static var isPossible: Bool { unshare != nil }

  /// How to create a mount namespace: as root, or as the root of a user namespace.
  private static let unshare: [String]? = {
    let asRoot = ["/usr/bin/unshare", "--mount", "--propagation", "private"]
    let asUser = ["/usr/bin/unshare", "--user", "--map-root-user", "--mount"]
    return [asRoot, asUser].first { line in
      (try? Command.run(line + ["/bin/sh", "-c", "mount -t tmpfs hearth /mnt"])) != nil
    }
  }()
}
