/// The session as every client sees it.
package enum SessionState: Hashable, Sendable {
  /// The credential has not been read yet.
  case hydrating
  /// A credential exists, or may exist, and cannot be used now.
  case locked(LockReason)
  /// Read and known: there is none.
  case unauthenticated(signedOut: Bool)
  /// There was one, and it is finished.
  case reauthRequired(EndReason)
  /// A grant is held.
  case authenticated
}

package enum LockReason: Hashable, Sendable {
  case explicit(Lock)
  case accessFailure(AccessFailure)
}
