import Glibc
import HearthCore

extension FileError {
  /// The meaning of the errno value of a failed system call.
  init(errno number: Int32) {
    switch number {
    case ENOENT: self = .absent
    case EEXIST, ENOTEMPTY: self = .exists
    case EACCES, EPERM: self = .permissionDenied
    case ENOTCONN, ESTALE, ENODEV, ENXIO, ENOMEDIUM, EHOSTDOWN, EHOSTUNREACH, ENETUNREACH, ETIMEDOUT, ECONNABORTED,
      ECONNREFUSED, ESHUTDOWN, EREMOTEIO:
      self = .volumeUnavailable(Self.text(of: number))
    case ENOKEY, EKEYEXPIRED, EKEYREVOKED, EKEYREJECTED: self = .keyUnavailable(Self.text(of: number))
    case ENOSPC, EDQUOT: self = .noSpace
    case ELOOP: self = .symbolicLink
    default: self = .failed(Self.text(of: number))
    }
  }

  private static func text(of number: Int32) -> String {
    guard let text = strerror(number) else { return "error \(number)" }
    return String(cString: text)
  }
}
