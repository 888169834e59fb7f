import Glibc
import TestSupport

/// A small file system over a folder, for the program that is started by its launcher and for nobody else.
///
/// A shell beside the program fills it up and makes room again, as it is told through a pipe.
final class SmallDisk {
  let launcher: [String]
  private let pipe: String

  init(on environment: TestEnvironment, over folder: String, size: String) throws {
    pipe = "\(environment.folder)/small-disk"
    guard mkfifo(pipe, 0o600) == 0 else { throw CallFailure("mkfifo") }
    guard let unshare = Self.unshare else { throw NeverHappened(description: "No file system can be mounted here.") }
    // It ends by itself should nobody tell it to.
    let script = """
      set -e
      mkdir -p "$0"
      mount -t tmpfs -o size=\(size),mode=700 hearth "$0"
      timeout 300 sh -c 'while read -r order < "$1"; do case $order in
        fill) cat /dev/zero > "$0/filler" 2> /dev/null || true;;
        free) rm -f "$0/filler";;
        end) exit;;
      esac; done' "$0" "\(pipe)" 3<&- &
      exec "$@"
      """
    launcher = unshare + ["/bin/sh", "-c", script, folder]
  }

  deinit { try? tell("end") }

  /// Leaves no room at all.
  func fill() throws { try tell("fill") }

  /// Makes room again.
  func free() throws { try tell("free") }

  private func tell(_ order: String) throws {
    // Without a reader there is nobody left to be told.
    let descriptor = open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw CallFailure("open \(pipe)") }
    defer { close(descriptor) }
    guard write(descriptor, order + "\n", order.utf8.count + 1) > 0 else { throw CallFailure("write \(pipe)") }
  }

  static var isPossible: Bool { unshare != nil }

  /// How a mount namespace of one's own is made: as root, or as the root of a user namespace.
  private static let unshare: [String]? = {
    let asRoot = ["/usr/bin/unshare", "--mount", "--propagation", "private"]
    let asUser = ["/usr/bin/unshare", "--user", "--map-root-user", "--mount"]
    return [asRoot, asUser].first { line in
      (try? Command.run(line + ["/bin/sh", "-c", "mount -t tmpfs hearth /mnt"])) != nil
    }
  }()
}
