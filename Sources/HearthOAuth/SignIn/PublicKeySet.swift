import HearthCore
import Synchronization

/// Fetches a provider's signing keys (RFC 7517, section 5) and caches them for an hour.
///
/// If fetching fails, the last known keys stay in use.
final class PublicKeySet: Sendable {
  private let exchange: TokenExchange
  private let known = Mutex<(url: HTTPURL, keys: [PublicKey], at: Timestamp)?>(nil)

  init(_ exchange: TokenExchange) {
    self.exchange = exchange
  }

  func keys(at url: HTTPURL) async throws(RefreshFailure) -> [PublicKey] {
    let known = known.withLock { $0?.url == url ? $0 : nil }
    // If the clock was set back, the age is negative, which also causes a new request.
    if let known, .zero ..< .seconds(3600) ~= exchange.now - known.at { return known.keys }
    do {
      return try await fetch(url)
    } catch {
      guard let known else { throw error }
      return known.keys
    }
  }

  /// Fetches the keys even if they are cached, because the provider may have replaced them.
  func fetch(_ url: HTTPURL) async throws(RefreshFailure) -> [PublicKey] {
    let failure = "Cannot load the provider's keys"
    let (response, place) = try await exchange.sender.document(
      at: url, over: exchange.route, files: exchange.files, timeout: exchange.timeout, failure: failure)
    func message(_ found: String) -> String { "\(failure): \(found) from \(place)." }
    guard response.status == 200 else {
      let message = message("HTTP \(response.status)")
      guard (400..<500).contains(response.status), ![408, 425, 429].contains(response.status) else {
        throw .unavailable(message: message, retryAfter: response.retryAfter)
      }
      throw .misconfigured(message: message)
    }
    guard !response.isTruncated else { throw .misconfigured(message: message("a response of more than 1 MiB")) }
    let keys = await response.read { response -> [PublicKey]? in
      guard case .array(let values)? = JSONValue(parsing: response.body)?["keys"] else { return nil }
      return values.compactMap { PublicKey($0) }
    }
    guard let keys else {
      throw .unavailable(
        message: message(response.isPage ? "a web page" : "an invalid key set"), retryAfter: response.retryAfter)
    }
    known.withLock { $0 = (url, keys, exchange.now) }
    return keys
  }
}
