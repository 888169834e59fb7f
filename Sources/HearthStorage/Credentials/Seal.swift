import Crypto
import CryptoExtras
import FoundationEssentials
import HearthCore
import HearthThreads

/// How a passphrase becomes a key: scrypt (RFC 7914).
struct ScryptParameters: Codable, Hashable, Sendable {
  /// The name of the function in a credential file.
  var name = "scrypt"
  /// The cost; a power of two.
  var n: Int
  var r: Int
  var p: Int
  var salt: Data

  /// Makes the parameters for a new key, with a fresh salt: n 2^17, r 8, p 1, which takes 128 MiB. Tests pass another
  /// cost `n`.
  static func fresh(n: Int? = nil) -> ScryptParameters {
    var generator = SystemRandomNumberGenerator()
    let salt = Data((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    return ScryptParameters(n: n ?? 131_072, r: 8, p: 1, salt: salt)
  }

  /// Whether the parameters from a file are within bounds, so that deriving the key takes at most 512 MiB.
  var areSane: Bool {
    (2...1 << 20).contains(n) && n & (n - 1) == 0 && (1...32).contains(r) && (1...16).contains(p)
      && 128 * n * r <= 512 << 20 && (8...1024).contains(salt.count)
  }

  /// One thread for all accounts, so that keys are derived one after the other: each takes 128 MiB or more.
  private static let worker = WorkerThread(linger: 0)

  /// Derives the key on a thread of its own, which takes a large part of a second. Returns `nil` if memory is short.
  func key(from passphrase: Secret) async -> SealingKey? {
    await Self.worker.run { [self] in
      let key = try? KDF.Scrypt.deriveKey(
        from: Array(passphrase.reveal().utf8), salt: salt, outputByteCount: SealingKey.byteCount, rounds: n,
        blockSize: r, parallelism: p)
      return key.flatMap(SealingKey.init)
    }
  }
}

/// AES-256-GCM over a grant, with nonce, ciphertext and tag in one.
enum Seal {
  /// Returns `nil` if the key has been wiped.
  static func seal(_ plaintext: [UInt8], with key: SealingKey, associated: [UInt8]) -> [UInt8]? {
    guard let key = key.symmetricKey, let box = try? AES.GCM.seal(plaintext, using: key, authenticating: associated)
    else { return nil }
    return box.combined.map { Array($0) }
  }

  /// Returns `nil` if the key is wrong, or the bytes or the associated data were changed.
  static func open(_ sealed: [UInt8], with key: SealingKey, associated: [UInt8]) -> [UInt8]? {
    guard let key = key.symmetricKey, let box = try? AES.GCM.SealedBox(combined: sealed),
      let plaintext = try? AES.GCM.open(box, using: key, authenticating: associated)
    else { return nil }
    return Array(plaintext)
  }
}
