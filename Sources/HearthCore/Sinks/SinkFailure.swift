/// Why a sink's file cannot be put in place or removed, by what can be done about it.
package enum SinkFailure: Error, Hashable, Sendable {
  /// Something exists there that Hearth did not put there.
  case occupied
  /// It is a link, a folder or the like.
  case notRegular
  /// A line of the netrc file is faulty or conflicts, so the file was not changed.
  case netrc(NetrcText.Fault)
  /// Another sink, at this path, uses the same file.
  case shared(String)
  case folderMissing
  /// Others can write to the folder or one above it, or it is another user's. The string says which.
  case folderUnsafe(String)
  case denied
  case readOnly
  case noSpace
  /// No user or group has this name.
  case unknownOwner(String)
  /// Hearth may not give the file to this user or group.
  case ownerDenied(String)
  /// The file system has not answered within this time.
  case unanswered(Duration)
  /// Hearth cannot record that the file is its own. The text says why.
  case unrecorded(String)
  /// Any other error. The text is the system's.
  case failed(String)

  /// One sentence that says what is wrong with the file at `path` and what to do.
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
