import HearthCore
import Synchronization

/// The keys that a provider signs with (RFC 7517, section 5), requested once an hour.
///
/// While the provider cannot be reached, the last known keys stay in use.
final class PublicKeySet: Sendable {
  private struct Known {
    let url: HTTPURL
    let keys: [PublicKey]
    let at: Timestamp
  }

  private let exchange: TokenExchange
  private let known = Mutex<Known?>(nil)

  init(_ exchange: TokenExchange) {
    self.exchange = exchange
  }

  func keys(at url: HTTPURL) async throws(RefreshFailure) -> [PublicKey] {
    let known = known.withLock { $0?.url == url ? $0 : nil }
    // The age is negative after the clock was set back; then the keys are also requested again.
    if let known, .zero ..< .seconds(3600) ~= exchange.sender.clock.now() - known.at { return known.keys }
    do {
      return try await fetch(url)
    } catch {
      guard let known else { throw error }
      return known.keys
    }
  }

  /// Requests the keys again, because providers change them.
  func fetch(_ url: HTTPURL) async throws(RefreshFailure) -> [PublicKey] {
    let failure = "The provider's keys cannot be loaded"
    let document = try await exchange.sender.document(
      at: url, over: exchange.route, files: exchange.files, timeout: exchange.timeout, failure: failure)
    let response = document.response
    func message(_ found: String) -> String { "\(failure): \(found) from \(document.place)." }
    guard response.status == 200 else {
      let message = message("HTTP \(response.status)")
      guard (400..<500).contains(response.status), ![408, 425, 429].contains(response.status) else {
        throw .unavailable(message: message, retryAfter: response.retryAfter)
      }
      throw .misconfigured(message: message)
    }
    guard !response.isTruncated else { throw .misconfigured(message: message("more than 1 MiB")) }
    let keys = await response.read { response -> [PublicKey]? in
      guard case .array(let values)? = JSONValue(parsing: response.body)?["keys"] else { return nil }
      return values.compactMap { PublicKey($0) }
    }
    guard let keys else {
      throw .unavailable(
        message: message(response.isPage ? "a web page" : "no key set"), retryAfter: response.retryAfter)
    }
    known.withLock { $0 = Known(url: url, keys: keys, at: exchange.sender.clock.now()) }
    return keys
  }
}
