import NIOSSL
import Synchronization

/// Caches the TLS contexts of recently used configurations. Creating a context takes milliseconds, because it parses
/// all trusted authorities.
final class TLSContexts: Sendable {
  private static let limit = 16

  private let authorities: SystemAuthorities
  /// Sorted by use, most recent first.
  private let known = Mutex<[NIOSSLContext]>([])

  init(_ authorities: SystemAuthorities) {
    self.authorities = authorities
  }

  /// Returns a context for the configuration. Reads the disk, so do not call this on an event loop.
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
