import Crypto
import FoundationEssentials
import HTTPTypes

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
  mutating func record(_ call: Call, subject: String) -> (effect: Effect, isReplay: Bool)? {
    let key = call.headers[.idempotencyKey]
    let effect = Effect(
      order: effects.count + 1, method: call.method.rawValue, path: call.path, subject: subject, key: key,
      body: call.body.count <= 256 ? String(validating: call.body, as: UTF8.self) : nil, bytes: call.body.count,
      sha256: hexadecimal(SHA256.hash(data: call.body)))
    if let key {
      let scoped = subject + "\n" + key
      if let first = firstOfKey[scoped] {
        let isSame = (first.method, first.path, first.sha256) == (effect.method, effect.path, effect.sha256)
        return isSame ? (first, true) : nil
      }
      firstOfKey[scoped] = effect
    }
    effects.append(effect)
    return (effect, false)
  }
}
