import NIOSSL
import Synchronization

/// The TLS library's contexts of the most recently used configurations. Making one takes milliseconds, because it reads
/// every trusted authority.
final class TLSContexts: Sendable {
  private static let limit = 16

  private let authorities: SystemAuthorities
  /// The most recently used one is first.
  private let known = Mutex<[NIOSSLContext]>([])

  init(_ authorities: SystemAuthorities) {
    self.authorities = authorities
  }

  /// Reads the disk. Do not call it on an event loop.
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
