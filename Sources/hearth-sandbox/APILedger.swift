import Crypto
import FoundationEssentials

/// The effects of requests to the API, in order. A request with an Idempotency-Key that was seen before has none.
struct APILedger: Codable, Sendable {
  struct Effect: Codable, Hashable, Sendable {
    let order: Int
    let method: String
    let path: String
    let subject: String
    let key: String?
    /// The text of a short body; of other bodies only size and digest are kept.
    let body: String?
    let bytes: Int
    let sha256: String
  }

  enum Outcome: Hashable, Sendable {
    case done(Effect)
    case replayed(Effect)
    /// The key was used for something else.
    case conflict
  }

  private(set) var effects: [Effect] = []
  private var firstOfKey: [String: Effect] = [:]

  mutating func record(method: String, path: String, subject: String, key: String?, body: Data) -> Outcome {
    let digest = SHA256.hash(data: body).map { byte in
      String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }.joined()
    let effect = Effect(
      order: effects.count + 1, method: method, path: path, subject: subject, key: key,
      body: body.count <= 256 ? String(validating: body, as: UTF8.self) : nil, bytes: body.count, sha256: digest)
    if let key {
      let scoped = subject + "\n" + key
      if let first = firstOfKey[scoped] {
        let isSame = (first.method, first.path, first.sha256) == (method, path, digest)
        return isSame ? .replayed(first) : .conflict
      }
      firstOfKey[scoped] = effect
    }
    effects.append(effect)
    return .done(effect)
  }

  /// Empties the list. Keys that were used stay used.
  mutating func forgetEffects() {
    effects = []
  }
}
