import Crypto
import FoundationEssentials

/// The effects of requests to the API, in order. A request whose Idempotency-Key was used before has no effect.
struct APILedger: Codable, Sendable {
  struct Effect: Codable, Hashable, Sendable {
    let order: Int
    let method: String
    let path: String
    let subject: String
    let key: String?
    /// The text of a short body; for others, only size and digest are kept.
    let body: String?
    let bytes: Int
    let sha256: String
  }

  /// Tests may empty the list; used keys stay used.
  var effects: [Effect] = []
  private var firstOfKey: [String: Effect] = [:]

  /// Returns the effect that the request has now or, as a replay, had before. Returns `nil` if the key was used for
  /// other content.
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
