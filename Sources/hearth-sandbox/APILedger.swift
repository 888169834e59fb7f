import Crypto
import FoundationEssentials

/// Records the effects of API requests, in order. A request whose Idempotency-Key was used before has no effect.
struct APILedger: Codable, Sendable {
  struct Effect: Codable, Hashable, Sendable {
    let order: Int
    let method: String
    let path: String
    let subject: String
    let key: String?
    /// The body if it is short text. For other bodies, only the size and digest are recorded.
    let body: String?
    let bytes: Int
    let sha256: String
  }

  /// The effects so far. Clearing this list does not make used keys available again.
  var effects: [Effect] = []
  private var firstOfKey: [String: Effect] = [:]

  /// Records a request and returns its effect. For a repeated request, returns the original effect. Returns `nil` if
  /// the key was used for a different request.
  mutating func record(
    method: String, path: String, subject: String, key: String?, body: Data
  ) -> (effect: Effect, isReplay: Bool)? {
    let digest = hexadecimal(SHA256.hash(data: body))
    let effect = Effect(
      order: effects.count + 1, method: method, path: path, subject: subject, key: key,
      body: body.count <= 256 ? String(validating: body, as: UTF8.self) : nil, bytes: body.count, sha256: digest)
    if let key {
      let scoped = subject + "\n" + key
      if let first = firstOfKey[scoped] {
        let isSame = (first.method, first.path, first.sha256) == (method, path, digest)
        return isSame ? (first, true) : nil
      }
      firstOfKey[scoped] = effect
    }
    effects.append(effect)
    return (effect, false)
  }
}
