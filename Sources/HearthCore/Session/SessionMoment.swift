/// Which session there was at a moment, and whether the user had locked it, as far as was known.
package struct SessionMoment: Hashable, Sendable {
  let session: Int
  let mayBeLocked: Bool
}
