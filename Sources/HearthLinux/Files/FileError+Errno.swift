import Glibc
import HearthCore

extension FileError {
  init(errno number: Int32) {
    let text = String(cString: strerror(number))
    switch number {
    case ENOENT: self = .absent
    case EEXIST, ENOTEMPTY: self = .exists
    case EACCES, EPERM: self = .permissionDenied
    case ENOTCONN, ESTALE, ENODEV, ENXIO, ENOMEDIUM, EHOSTDOWN, EHOSTUNREACH, ENETUNREACH, ETIMEDOUT, ECONNABORTED,
      ECONNREFUSED, ESHUTDOWN, EREMOTEIO:
      self = .volumeUnavailable(text)
    case ENOKEY, EKEYEXPIRED, EKEYREVOKED, EKEYREJECTED: self = .keyUnavailable(text)
    case ENOSPC, EDQUOT: self = .noSpace
    case ELOOP: self = .symbolicLink
    default: self = .failed(text)
    }
  }
}
