/// The two kinds of items: those of lanes, which are sent one after the other, and unordered ones. Neither kind waits for
/// the other.
package struct OutboxKinds: OptionSet, Hashable, Sendable {
  package static let lanes = OutboxKinds(rawValue: 1)
  package static let unordered = OutboxKinds(rawValue: 2)
  package static let all: OutboxKinds = [.lanes, .unordered]

  package let rawValue: Int

  package init(rawValue: Int) {
    self.rawValue = rawValue
  }
}
