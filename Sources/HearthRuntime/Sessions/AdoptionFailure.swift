package import HearthCore

/// Why a grant that a person brought was not taken over; the session before it stays.
package enum AdoptionFailure: Error, Hashable, Sendable {
  case provider(RefreshFailure)
  case storage(AccessFailure)
  case stopping
  /// Another sign-in, a sign-out or another program's grant came in between.
  case superseded
}
