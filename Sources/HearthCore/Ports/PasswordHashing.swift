/// Hashes of passwords that are slow to try out.
package protocol PasswordHashing: Sendable {
  /// With a salt of its own; nil where there is not enough memory to make it. Takes a while, and blocks nobody.
  func hash(_ password: Secret) async -> String?

  /// Whether this is the password that `hash` was made of. Takes as long as making it.
  func isPassword(_ password: Secret, of hash: String) async -> Bool
}
