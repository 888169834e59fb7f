import NIOSSL
import Synchronization

/// The TLS library's contexts of the configurations that were used last: to make one takes milliseconds, since it reads
/// every authority that is trusted.
final class TLSContexts: Sendable {
  private static let limit = 16

  private let authorities: SystemAuthorities
  /// From the one that was used last.
  private let known = Mutex<[NIOSSLContext]>([])

  init(_ authorities: SystemAuthorities) {
    self.authorities = authorities
  }

  /// It reads the disk, and must not be called on an event loop.
  func context(for configuration: TLSConfiguration) throws -> NIOSSLContext {
    var configuration = configuration
    if configuration.trustRoots == nil { configuration.trustRoots = try authorities.roots() }
    let found = known.withLock { known -> NIOSSLContext? in
      guard let place = known.firstIndex(where: { $0.configuration.bestEffortEquals(configuration) }) else {
        return nil
      }
      let context = known.remove(at: place)
      known.insert(context, at: 0)
      return context
    }
    if let found { return found }
    let context = try NIOSSLContext(configuration: configuration)
    known.withLock { $0 = Array(([context] + $0).prefix(Self.limit)) }
    return context
  }
}
