/// The reason why a sink's file cannot be written or removed.
package enum SinkFailure: Error, Hashable, Sendable {
  /// The path exists, and Hearth did not create it.
  case occupied
  /// The path is a link, a folder or another special file.
  case notRegular
  /// A line in the netrc file is invalid or conflicts with an entry, so the file was not changed.
  case netrc(NetrcText.Fault)
  /// Another sink uses the same file under this path.
  case shared(String)
  case folderMissing
  /// The folder or one above it can be changed by other users. The string says which.
  case folderUnsafe(String)
  case denied
  case readOnly
  case noSpace
  /// No user or group has this name.
  case unknownOwner(String)
  /// Hearth is not allowed to give the file to this user or group.
  case ownerDenied(String)
  /// The file system has not responded within this time.
  case unanswered(Duration)
  /// Hearth cannot record that the file is its own. The string says why.
  case unrecorded(String)
  /// Any other error. The value is the system's message.
  case failed(String)

  /// Returns a sentence that says what is wrong with the file at `path` and what to do.
  package func message(at path: String) -> String {
    let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? path
    return switch self {
    case .occupied: "\(path) was not written by Hearth and is left alone: remove it, or name another path."
    case .notRegular: "\(path) is a link or not a regular file, and is left alone: remove it, or name another path."
    case .netrc(let fault): "\(path) was not changed, because line \(fault.line) \(fault.text)."
    case .shared(let other):
      "\(path) is the same file as \(other), which is another sink's: name another path."
    case .folderMissing: "The folder \(folder) does not exist. Create it with \"mkdir -p -m 700 \(folder)\"."
    case .folderUnsafe(let why): "\(path) is not written, because \(why)."
    case .denied: "\(folder) does not let Hearth write or remove \(path): allow its user to write there."
    case .readOnly: "\(path) is on a file system that can only be read: name another path."
    case .noSpace: "There is no space left for \(path): make room."
    case .unknownOwner(let name):
      "\(path) should belong to \"\(name)\", but no user or group has that name: correct it."
    case .ownerDenied(let name):
      "Hearth may not give \(path) to \"\(name)\": it can only give it to a group that its own user is in."
    case .unanswered(let limit):
      "The file system of \(path) has not answered in \(limit.components.seconds) s: check whether it is mounted."
    case .unrecorded(let why): "\(path) is not written yet, because the state folder cannot be written: \(why)."
    case .failed(let text): "\(path) cannot be written or removed: \(text)."
    }
  }
}
