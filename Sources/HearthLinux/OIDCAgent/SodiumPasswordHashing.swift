import CSodium
import Glibc
package import HearthCore
import HearthThreads

/// Argon2id as libsodium writes it, with salt and cost in the text. Each takes 64 MiB for a moment.
package struct SodiumPasswordHashing: PasswordHashing {
  package init() {}

  package func hash(_ password: Secret) async -> String? {
    await WorkerThread.run {
      guard sodium_init() >= 0 else { return nil }
      let password = password.reveal()
      var text = [CChar](repeating: 0, count: Int(crypto_pwhash_STRBYTES))
      let result = crypto_pwhash_str(
        &text, password, UInt64(password.utf8.count), UInt64(crypto_pwhash_OPSLIMIT_INTERACTIVE),
        Int(crypto_pwhash_MEMLIMIT_INTERACTIVE))
      guard result == 0 else { return nil }
      return text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
    }
  }

  package func isPassword(_ password: Secret, of hash: String) async -> Bool {
    await WorkerThread.run {
      let password = password.reveal()
      return sodium_init() >= 0 && crypto_pwhash_str_verify(hash, password, UInt64(password.utf8.count)) == 0
    }
  }
}
