/// The reason why a sink's file cannot be written or removed.
package enum SinkFailure: Error, Hashable, Sendable {
  /// Hearth did not write the file at the path, or another user owns it.
  case occupied
  /// The path is a link, a folder or a special file.
  case notRegular
  /// A line in the netrc file is invalid or conflicts with an entry, so the file was not changed.
  case netrc(NetrcText.Fault)
  /// Another sink writes the same file, under this other path.
  case shared(String)
  case folderMissing
  /// Other users can change the folder or one above it. The string says which folder and what to do.
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

  /// Returns a message that says what is wrong with the file at `path` and, if the user can fix it, how.
  package func message(at path: String) -> String {
    let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? path
    return switch self {
    case .occupied:
      "\(path) was not written by Hearth or belongs to another user, so it is left unchanged. Remove it or choose "
        + "another path."
    case .notRegular: "\(path) is not a regular file and is left unchanged. Remove it or choose another path."
    case .netrc(let fault): "\(path) was not changed, because line \(fault.line) \(fault.text)."
    case .shared(let other):
      "\(path) is the same file as \(other), which another sink writes to. Choose another path."
    case .folderMissing: "The folder \(folder) does not exist. Create it with \"mkdir -p -m 700 \(folder)\"."
    case .folderUnsafe(let why): "Hearth does not write \(path), because \(why)."
    case .denied:
      "Hearth does not have permission to write or remove \(path). Check the permissions of the file and of \(folder)."
    case .readOnly: "\(path) is on a read-only file system. Choose another path."
    case .noSpace: "There is no space left to write \(path). Free some disk space."
    case .unknownOwner(let name):
      "Hearth does not write \(path), because there is no user or group \"\(name)\". Correct the sink's owner or group."
    case .ownerDenied(let name):
      "Hearth is not allowed to make \"\(name)\" the owner or group of \(path). Unless Hearth runs as root, choose "
        + "only a group that its user belongs to."
    case .unanswered(let limit):
      "The file system of \(path) has not responded for \(limit.components.seconds) s. Check whether it is mounted."
    case .unrecorded(let why):
      "Hearth has not written \(path) yet, because it cannot write to its state folder: \(why)."
    case .failed(let text): "\(path) cannot be written or removed: \(text)."
    }
  }
}
