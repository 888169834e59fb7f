import CSodium
import HearthCore

/// The password that unlocks the agent, as an Argon2id hash that includes salt and cost. Hashing and verifying each
/// temporarily use 64 MiB of memory.
struct Password: Sendable {
  private let hash: String

  /// Hashes a password. Returns `nil` if there is not enough memory.
  init?(_ password: Secret) {
    guard sodium_init() >= 0 else { return nil }
    let password = password.reveal()
    var text = [CChar](repeating: 0, count: Int(crypto_pwhash_STRBYTES))
    let result = crypto_pwhash_str(
      &text, password, UInt64(password.utf8.count), UInt64(crypto_pwhash_OPSLIMIT_INTERACTIVE),
      Int(crypto_pwhash_MEMLIMIT_INTERACTIVE))
    guard result == 0 else { return nil }
    hash = text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }

  func matches(_ password: Secret) -> Bool {
    let password = password.reveal()
    return crypto_pwhash_str_verify(hash, password, UInt64(password.utf8.count)) == 0
  }
}
