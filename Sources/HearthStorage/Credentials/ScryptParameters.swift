import CryptoExtras
import FoundationEssentials
import HearthCore
import HearthThreads

/// The parameters for deriving a key from a passphrase with scrypt (RFC 7914).
struct ScryptParameters: Codable, Hashable, Sendable {
  /// The function's name in the credential file.
  var name = "scrypt"
  /// The cost, which is a power of two.
  var n: Int
  var r: Int
  var p: Int
  var salt: Data

  /// Returns parameters with a new salt for a new key (n = 2^17, r = 8, p = 1), which require 128 MiB. Tests use
  /// another cost `n`.
  static func fresh(n: Int? = nil) -> ScryptParameters {
    let salt = Data((0..<16).map { _ in UInt8.random(in: .min ... .max) })
    return ScryptParameters(n: n ?? 131_072, r: 8, p: 1, salt: salt)
  }

  /// Whether the parameters from a file are within bounds, so that deriving the key requires at most 512 MiB.
  var areSane: Bool {
    (2...1 << 20).contains(n) && n & (n - 1) == 0 && (1...32).contains(r) && (1...16).contains(p)
      && 128 * n * r <= 512 << 20 && (8...1024).contains(salt.count)
  }

  /// The thread for derivations. All accounts share it, because one derivation usually requires 128 MiB.
  private static let worker = WorkerThread(linger: 0)

  /// Derives the key on a separate thread, because this takes a large fraction of a second. Returns `nil` if memory is
  /// short.
  func key(from passphrase: Secret) async -> SealingKey? {
    await Self.worker.run { [self] in
      let key = try? KDF.Scrypt.deriveKey(
        from: Array(passphrase.reveal().utf8), salt: salt, outputByteCount: SealingKey.byteCount, rounds: n,
        blockSize: r, parallelism: p)
      return key.flatMap(SealingKey.init)
    }
  }
}
