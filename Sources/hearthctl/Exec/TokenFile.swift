import Glibc
import HearthCore

/// The file that a program of `exec` reads its token from, in a folder of its own below `$XDG_RUNTIME_DIR`.
struct TokenFile {
  private let folder: String

  var path: String { folder + "/token" }
  private var unfinished: String { folder + "/next" }

  init() throws(CommandFailure) {
    guard let place = variable("XDG_RUNTIME_DIR") else {
      throw CommandFailure(
        .failed,
        "There is no place for the token file: XDG_RUNTIME_DIR is not set. Set it, or use --env NAME for the token itself."
      )
    }
    var name = Array("\(place)/hearth-exec-XXXXXX".utf8CString)
    guard mkdtemp(&name) != nil else {
      throw CommandFailure(.failed, "No token file can be made in \(place): \(reason()).")
    }
    folder = name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }

  /// Why the file cannot be written, after `write` has failed; nothing of it is left.
  var failure: CommandFailure {
    let failure = CommandFailure(.failed, "\(path) cannot be written: \(reason()).")
    remove()
    return failure
  }

  /// Puts a whole file in place of the one before. Returns false, with errno, if it cannot.
  func write(_ token: Secret) -> Bool {
    unlink(unfinished)
    let descriptor = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return WholeFile.write(Array(token.reveal().utf8), to: descriptor) && rename(unfinished, path) == 0
  }

  /// Takes the token away; the place stays.
  func clear() { unlink(path) }

  func remove() {
    for name in [path, unfinished] { unlink(name) }
    rmdir(folder)
  }
}
