import CLinux
import Glibc
import HearthClient
import HearthControl
import HearthCore

/// The file from which a program run by `exec` reads its token. The file has its own folder in `$XDG_RUNTIME_DIR`. The
/// processes that will remove the folder keep it locked.
struct TokenFile {
  private static let prefix = "hearth-exec-"

  private let folder: String
  /// The file descriptor of the folder. Processes that inherit the descriptor share the lock.
  let lock: Int32

  var path: String { folder + "/token" }
  private var unfinished: String { folder + "/next" }

  init() throws {
    guard let place = variable("XDG_RUNTIME_DIR") else {
      throw CommandFailure(
        .failed,
        "Cannot create the token file, because XDG_RUNTIME_DIR is not set. Set it, or pass the token in a variable "
          + "with --env NAME.")
    }
    Self.sweep(place)
    for _ in 0..<8 {
      var name = Array("\(place)/\(Self.prefix)XXXXXX".utf8CString)
      guard mkdtemp(&name) != nil else {
        throw CommandFailure(.failed, "Cannot create a token file in \(place): \(reason()).")
      }
      let folder = name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
      // If another process removed the folder before it was locked, try again.
      if let file = TokenFile(locking: folder) {
        self = file
        return
      }
    }
    throw CommandFailure(.failed, "Cannot lock a token file in \(place).")
  }

  /// Opens and locks an existing folder. Returns `nil` if the folder is locked by another process, was removed, or
  /// belongs to another user.
  private init?(locking folder: String) {
    self.folder = folder
    lock = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    var status = stat()
    guard flock(lock, LOCK_EX | LOCK_NB) == 0, fstat(lock, &status) == 0, status.st_nlink > 0,
      status.st_uid == geteuid()
    else {
      if lock >= 0 { close(lock) }
      return nil
    }
  }

  /// Removes token files that killed `exec` processes have left behind.
  private static func sweep(_ place: String) {
    guard let stream = opendir(place) else { return }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard name.hasPrefix(prefix), let file = TokenFile(locking: "\(place)/\(name)") else { continue }
      file.remove()
      close(file.lock)
    }
  }

  /// The error to throw if `write` fails. Also removes the file and its folder.
  var failure: CommandFailure {
    let failure = CommandFailure(.failed, "\(path) cannot be written: \(reason()).")
    remove()
    return failure
  }

  /// Replaces the file atomically. Returns false and sets errno on failure.
  func write(_ token: Secret) -> Bool {
    unlink(unfinished)
    let descriptor = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return WholeFile.write(Array(token.reveal().utf8), to: descriptor) && rename(unfinished, path) == 0
  }

  func remove() {
    for name in [path, unfinished] { unlink(name) }
    rmdir(folder)
  }
}

extension TokenFile {
  /// Starts a process that refreshes the file, and removes it when the program ends. Returns the process's id. If that
  /// fails, ends the program and throws.
  func refresh(for account: AccountName, at socket: String, while program: pid_t) throws -> pid_t {
    let end = hearth_watch_process(program)
    let process = end < 0 ? -1 : hearth_fork()
    if process == 0 { keep(account, socket, until: end) }
    if end >= 0 { close(end) }
    guard process > 0 else {
      let why = reason()
      kill(program, SIGKILL)
      // Not `RunningProgram.waitForEnd`, which closes standard error, where the failure is shown.
      waitForEnd(of: program)
      remove()
      throw CommandFailure(.failed, "Cannot keep the token file up to date, so the program was killed: \(why).")
    }
    return process
  }

  private func keep(_ account: AccountName, _ socket: String, until end: Int32) -> Never {
    // Detach from the terminal and from the caller's pipes. Signals remain blocked.
    setsid()
    // Keep the folder's lock in this process.
    let end = Waker(watching: RunningProgram.letGo(except: [end, lock])[0])
    var pauses = ReconnectPauses()
    while !end.isWoken {
      do {
        var daemon = try ControlClient(path: socket, waker: end)
        var events = EventFollower(Subscribe(topics: [.session], account: account))
        while true {
          _ = try events.next(from: &daemon)
          pauses.reset()
          try write(of: account, &daemon)
        }
      } catch {
        // Keep the file while the daemon is unreachable. Remove the token if the account was removed.
        if case ControlClient.Failure.refused(let refusal) = error, refusal.kind == .unknownAccount { unlink(path) }
        end.sleep(until: .now + pauses.next())
      }
    }
    remove()
    _exit(0)
  }

  /// Writes the current token. If the account is locked or not signed in, removes the old token. After any other
  /// refusal, keeps it.
  private func write(of account: AccountName, _ daemon: inout ControlClient) throws {
    switch try daemon.call(each: [GetToken(account)])[0] {
    case .success(let token): _ = write(token.token.secret)
    case .failure(let error) where [.locked, .unauthenticated, .reauthRequired].contains(error.kind): unlink(path)
    case .failure: break
    }
  }
}
