/// Which session there was at a moment, and how it was locked.
package struct SessionMoment: Hashable, Sendable {
  let session: Int
  let locks: Set<Lock>
}
