/// A port that refuses connections while the tests run. It is bound, so that nobody else gets it, but nobody listens on
/// it.
package enum RefusingPort {
  package static let number: Int = {
    guard let bound = try? LoopbackSocket() else { preconditionFailure("there is no port") }
    return bound.port
  }()
}
