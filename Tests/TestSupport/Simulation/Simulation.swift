/// A history that a seed chooses, of which every rule is looked at after each step.
package protocol Simulation: SendableMetatype {
  associatedtype Tallied: Hashable & Sendable

  init(seed: UInt64, isTraced: Bool)
  mutating func run() throws(Violation)
  var tally: Tally<Tallied> { get }
  /// Nil where it is not traced.
  var trace: Trace? { get }
}
